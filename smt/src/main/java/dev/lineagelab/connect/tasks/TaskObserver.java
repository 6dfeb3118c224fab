// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.tasks;

import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.ObservedTopic;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.connect.data.Schema;

/** Transform instance of one task, from configure to close. */
public final class TaskObserver {
  private static final AtomicLong LAST_CONFIGURED = new AtomicLong();
  private static final AtomicLong LAST_NUMBER = new AtomicLong();

  private final TaskObservations observations;
  private final Map<String, String> options;
  private final SeenSchemas seen = new SeenSchemas();
  private final AlternatingSchemas schemas = new AlternatingSchemas();
  private final long configuredAt;
  private final long number = LAST_NUMBER.incrementAndGet();
  private volatile TaskId task;
  private int decidedAt = -1;
  private boolean isObserving;

  TaskObserver(
      final TaskObservations observations, final Map<String, String> options, final TaskId task) {
    this.observations = observations;
    this.options = Map.copyOf(options);
    this.task = task;
    this.configuredAt = LAST_CONFIGURED.accumulateAndGet(System.currentTimeMillis(), Math::max);
  }

  /**
   * Observe topic and schemas of a record; publish them if they are new. Never blocks.
   *
   * @return whether they have been taken, so that the same ones need not be observed again
   */
  public boolean observe(
      final String topic, final Schema key, final Schema value, final ConnectorType type) {
    if (task == null) {
      task = TaskId.current().orElse(null);
    }
    if (!isObserving(type)) {
      return false;
    }
    final boolean isKnown = seen.contains(topic, key, value);
    if (!isKnown && (task == null || !seen.add(topic, key, value, System.nanoTime()))) {
      return false;
    }
    final boolean isReturn = schemas.isReturn(topic, value, isKnown);
    if (!isKnown || isReturn) {
      final ObservedTopic observed = new ObservedTopic(topic, key, value, null);
      observations.add(
          new TaskObservation(task.connector(), observed, type, this, isReturn),
          seen.isWithinBurst());
    }
    return true;
  }

  /**
   * Return whether the last record has another value schema than the one before in its topic, whose
   * records have not alternated between schemas before.
   */
  public boolean hasReplacedSchema(final String topic) {
    return schemas.isReplacement() && !schemas.isAlternating(topic);
  }

  /** Decide again only when the transforms of a task may have changed. */
  private boolean isObserving(final ConnectorType type) {
    final int generation = observations.generation();
    if (generation != decidedAt) {
      isObserving = observations.isObserving(this, type);
      decidedAt = task == null ? -1 : generation;
    }
    return isObserving;
  }

  /** Position in the order in which all transforms of this worker were configured. */
  long number() {
    return number;
  }

  /** Return whether a predicate selects the records that the transform receives. */
  boolean hasPredicate() {
    return options.containsKey("predicate");
  }

  /** The task; empty until it is known. */
  public Optional<TaskId> task() {
    return Optional.ofNullable(task);
  }

  /** Options of the transform, with references resolved. */
  public Map<String, String> options() {
    return options;
  }

  /** Time of configure, in milliseconds since the epoch. */
  public long configuredAt() {
    return configuredAt;
  }
}
