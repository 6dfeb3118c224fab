// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.observe;

import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.runs.ConnectorStatus;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Where the transforms of all tasks put what they see, and the plugin's thread takes it from. Of a
 * topic only the latest is kept: it holds as many entries as there are topics.
 */
public final class Observations {
  private record Key(String connector, String topic) {}

  private final Map<Key, Taken> pending = new LinkedHashMap<>();
  private final Map<String, ConnectorType> types = new ConcurrentHashMap<>();
  private final Set<TaskObserver> live = ConcurrentHashMap.newKeySet();
  private final Map<String, Map<String, String>> lastOptions = new ConcurrentHashMap<>();
  private final CountBook counts;
  private boolean hasNews;

  /** Remembers counts of tasks that close in {@code counts}. */
  public Observations(final CountBook counts) {
    this.counts = counts;
  }

  /**
   * What was seen, and by whom.
   *
   * @param connector whose task it was
   */
  public record Taken(String connector, Sight sight, TaskObserver observer) {}

  /** A transform begins to work for a task. */
  public TaskObserver configured(final Map<String, String> options) {
    final TaskObserver observer = new TaskObserver(this, options, TaskName.current().orElse(null));
    live.add(observer);
    wake();
    return observer;
  }

  /** It does no more. Connect still has the task's counts, for the last time. */
  public void closed(final TaskObserver observer) {
    if (live.remove(observer)) {
      observer.task().ifPresent(task -> lastOptions.put(task.connector(), observer.options()));
      observer
          .task()
          .ifPresent(
              task ->
                  ConnectMetrics.counts(task.connector(), task.task())
                      .ifPresent(totals -> counts.close(task, totals)));
      wake();
    }
  }

  synchronized void saw(final TaskObserver observer, final Sight sight) {
    observer
        .task()
        .ifPresent(
            task -> {
              types.put(task.connector(), sight.type());
              final Key key = new Key(task.connector(), sight.topic());
              pending.merge(
                  key, new Taken(task.connector(), sight, observer), Observations::latest);
              hasNews = true;
              notifyAll();
            });
  }

  /** Tombstones have no schema: they do not hide what came before them. */
  private static Taken latest(final Taken before, final Taken now) {
    if (now.observer() != before.observer()) {
      return now;
    }
    final Sight then = before.sight();
    final Sight last = now.sight();
    final Sight merged =
        new Sight(
            last.topic(),
            last.key() == null ? then.key() : last.key(),
            last.value() == null ? then.value() : last.value(),
            last.type(),
            then.at());
    return new Taken(now.connector(), merged, now.observer());
  }

  /** Takes out what was seen since the last time. */
  public synchronized Iterable<Taken> take() {
    final Map<Key, Taken> taken = new LinkedHashMap<>(pending);
    pending.clear();
    return taken.values();
  }

  /** Waits for news, at most so long. */
  public synchronized void await(final long millis) throws InterruptedException {
    final long until = System.nanoTime() + millis * 1_000_000;
    for (long left = millis; left > 0 && !hasNews; left = (until - System.nanoTime()) / 1_000_000) {
      wait(left);
    }
    hasNews = false;
  }

  /** Ends the wait. */
  public synchronized void wake() {
    hasNews = true;
    notifyAll();
  }

  /** Connectors that have a task with the transform here. */
  public Set<String> connectors() {
    final Set<String> names = new TreeSet<>();
    live.forEach(observer -> observer.task().ifPresent(task -> names.add(task.connector())));
    return names;
  }

  /** Options that the transform of a connector was given here last; empty if it never was. */
  public Optional<Map<String, String>> options(final String connector) {
    return live.stream()
        .filter(
            observer ->
                observer.task().filter(task -> task.connector().equals(connector)).isPresent())
        .max(Comparator.comparingLong(TaskObserver::configuredAt))
        .map(TaskObserver::options)
        .or(() -> Optional.ofNullable(lastOptions.get(connector)));
  }

  /** A connector that is gone, as far as the transforms of its tasks tell. */
  public ConnectorLook remembered(final String connector) {
    final ConnectorDefinition view =
        new ConnectorDefinition(
            connector,
            type(connector).orElse(ConnectorType.SOURCE),
            null,
            TransformConfig.alone(options(connector).orElse(Map.of())),
            false);
    return new ConnectorLook(view, ConnectorStatus.of("UNASSIGNED", null, Map.of()), true);
  }

  /** Which way a connector's records go; empty before its first one. */
  public Optional<ConnectorType> type(final String connector) {
    return Optional.ofNullable(types.get(connector));
  }

  /** Tasks with the transform here, by connector. */
  public Map<String, Set<Integer>> tasks() {
    final Map<String, Set<Integer>> tasks = new HashMap<>();
    live.forEach(
        observer ->
            observer
                .task()
                .ifPresent(
                    task ->
                        tasks
                            .computeIfAbsent(task.connector(), name -> new TreeSet<>())
                            .add(task.task())));
    return new TreeMap<>(tasks);
  }
}
