// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.observe;

import dev.lineagelab.connect.model.ConnectorType;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.connect.data.Schema;

/** The transform of one task: one life from configure to close. */
public final class TaskObserver {
  private static final AtomicLong LAST_CONFIGURED = new AtomicLong();

  private final Observations observations;
  private final Map<String, String> options;
  private final SeenSchemas seen = new SeenSchemas();
  private final long configuredAt;
  private volatile TaskName task;

  TaskObserver(
      final Observations observations, final Map<String, String> options, final TaskName task) {
    this.observations = observations;
    this.options = Map.copyOf(options);
    this.task = task;
    this.configuredAt = LAST_CONFIGURED.accumulateAndGet(System.currentTimeMillis(), Math::max);
  }

  /**
   * Takes note of a record's topic and schemas. Called where they are not those of the record
   * before; hands on what is new, and does not wait.
   *
   * @return whether it is known now, so that the same need not be handed in again
   */
  public boolean notice(
      final String topic, final Schema key, final Schema value, final ConnectorType type) {
    if (seen.contains(topic, key, value)) {
      return true;
    }
    if (task == null) {
      task = TaskName.current().orElse(null);
    }
    if (task == null || !seen.add(topic, key, value, System.nanoTime())) {
      return false;
    }
    observations.saw(this, new Sight(topic, key, value, type, System.currentTimeMillis()));
    return true;
  }

  /** The task; empty as long as it is unknown. */
  public Optional<TaskName> task() {
    return Optional.ofNullable(task);
  }

  /** The transform's own options, with references resolved. */
  public Map<String, String> options() {
    return options;
  }

  /** Milliseconds. */
  public long configuredAt() {
    return configuredAt;
  }
}
