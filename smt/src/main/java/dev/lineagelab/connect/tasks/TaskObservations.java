// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.tasks;

import dev.lineagelab.connect.metrics.ConnectMetrics;
import dev.lineagelab.connect.model.ConnectorType;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Hand-over of observations from the transforms of all tasks to the agent's thread. A few of a
 * topic are kept, so the size is bounded by the number of topics. Thread-safe.
 */
public final class TaskObservations {
  /** Maximum number of observations of a topic between two polls of the agent. */
  private static final int MAX_PENDING = 16;

  private static final String NO_CONNECTOR = "";

  private record Key(String connector, String topic) {}

  private final Map<Key, Deque<TaskObservation>> pending = new LinkedHashMap<>();
  private final Map<String, ConnectorType> types = new ConcurrentHashMap<>();

  /** Transforms by connector; those that were configured outside of a task have none. */
  private final Map<String, Set<TaskObserver>> active = new ConcurrentHashMap<>();

  private final Map<String, Map<String, String>> lastOptions = new ConcurrentHashMap<>();
  private final RecordTotals totals;
  private final AtomicInteger generation = new AtomicInteger();
  private boolean isSignalled;

  /** Record the final counts of closed tasks in {@code totals}. */
  public TaskObservations(final RecordTotals totals) {
    this.totals = totals;
  }

  /** Register the transform of the calling thread's task, which was configured just now. */
  public TaskObserver register(final Map<String, String> options) {
    final TaskObserver observer = new TaskObserver(this, options, TaskId.current().orElse(null));
    active.compute(
        connectorOf(observer),
        (name, present) -> {
          final Set<TaskObserver> all = present == null ? ConcurrentHashMap.newKeySet() : present;
          all.add(observer);
          return all;
        });
    generation.incrementAndGet();
    signal();
    return observer;
  }

  /** Unregister a closed transform. Connect still publishes the task's counts at this point. */
  public void unregister(final TaskObserver observer) {
    final String connector = connectorOf(observer);
    if (!active(connector).contains(observer)) {
      return;
    }
    active.computeIfPresent(
        connector,
        (name, present) -> {
          present.remove(observer);
          return present.isEmpty() ? null : present;
        });
    generation.incrementAndGet();
    observer
        .task()
        .ifPresent(
            task -> {
              lastOptions.put(task.connector(), observer.options());
              ConnectMetrics.counts(task.connector(), task.task())
                  .ifPresent(counts -> totals.closeTask(task, counts));
            });
    signal();
  }

  /** Counter that increases whenever a transform is registered or unregistered. */
  int generation() {
    return generation.get();
  }

  /**
   * Return whether a transform observes for its task. If the chain has several, records are as in
   * the topic at the first of a sink and at the last of a source; one that sees all records is
   * preferred to one with a predicate.
   */
  boolean isObserving(final TaskObserver observer, final ConnectorType type) {
    final Comparator<TaskObserver> place = Comparator.comparingLong(TaskObserver::number);
    return active(connectorOf(observer)).stream()
        .filter(other -> other.task().isPresent() && other.task().equals(observer.task()))
        .min(
            Comparator.comparing(TaskObserver::hasPredicate)
                .thenComparing(type == ConnectorType.SINK ? place : place.reversed()))
        .map(chosen -> chosen == observer)
        .orElse(true);
  }

  /**
   * Add an observation.
   *
   * @param isUrgent false to leave it until the agent's next poll
   */
  synchronized void add(final TaskObservation observation, final boolean isUrgent) {
    types.put(observation.connector(), observation.type());
    final Deque<TaskObservation> ofTopic =
        pending.computeIfAbsent(
            new Key(observation.connector(), observation.topic().topic()),
            topic -> new ArrayDeque<>());
    final TaskObservation last = ofTopic.peekLast();
    if (last != null && last.isCompletedBy(observation)) {
      ofTopic.removeLast();
      ofTopic.addLast(TaskObservation.merge(last, observation));
    } else {
      if (ofTopic.size() >= MAX_PENDING) {
        ofTopic.removeFirst();
      }
      ofTopic.addLast(observation);
    }
    if (isUrgent) {
      signal();
    }
  }

  /** Remove and return the observations added since the last call. */
  public synchronized List<TaskObservation> drain() {
    final List<TaskObservation> drained = pending.values().stream().flatMap(Deque::stream).toList();
    pending.clear();
    return drained;
  }

  /** Wait up to {@code millis} for a signal. */
  public synchronized void await(final long millis) throws InterruptedException {
    final long deadline = System.nanoTime() + millis * 1_000_000;
    for (long left = millis;
        left > 0 && !isSignalled;
        left = (deadline - System.nanoTime()) / 1_000_000) {
      wait(left);
    }
    isSignalled = false;
  }

  /** End the current or the next wait. */
  public synchronized void signal() {
    isSignalled = true;
    notifyAll();
  }

  /** Connectors with an active transform on this worker. */
  public Set<String> connectors() {
    final Set<String> names = new TreeSet<>(active.keySet());
    names.remove(NO_CONNECTOR);
    return names;
  }

  /** Options of the connector's latest transform on this worker; empty if it never had one. */
  public Optional<Map<String, String>> options(final String connector) {
    return active(connector).stream()
        .max(Comparator.comparingLong(TaskObserver::configuredAt))
        .map(TaskObserver::options)
        .or(() -> Optional.ofNullable(lastOptions.get(connector)));
  }

  /** Type of a connector; empty before its first record. */
  public Optional<ConnectorType> type(final String connector) {
    return Optional.ofNullable(types.get(connector));
  }

  /** Numbers of the tasks with an active transform on this worker, by connector. */
  public Map<String, Set<Integer>> tasks() {
    final Map<String, Set<Integer>> tasks = new TreeMap<>();
    active.forEach(
        (connector, observers) ->
            observers.stream()
                .flatMap(observer -> observer.task().stream())
                .forEach(
                    task ->
                        tasks
                            .computeIfAbsent(connector, name -> new TreeSet<>())
                            .add(task.task())));
    return tasks;
  }

  private Set<TaskObserver> active(final String connector) {
    return active.getOrDefault(connector, Set.of());
  }

  private static String connectorOf(final TaskObserver observer) {
    return observer.task().map(TaskId::connector).orElse(NO_CONNECTOR);
  }
}
