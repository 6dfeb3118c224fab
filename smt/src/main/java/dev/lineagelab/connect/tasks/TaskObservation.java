// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.tasks;

import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.ObservedTopic;
import org.apache.kafka.connect.data.Schema;

/**
 * Schemas of a topic that the transform of a task observed.
 *
 * @param connector that the task belongs to
 * @param observer transform instance that made the observation
 * @param isAlternating whether the schema has returned after another one of the topic
 */
public record TaskObservation(
    String connector,
    ObservedTopic topic,
    ConnectorType type,
    TaskObserver observer,
    boolean isAlternating) {

  /** Return whether a newer observation only completes this one, as its schemas are the same. */
  boolean isCompletedBy(final TaskObservation newer) {
    final Schema known = topic.valueSchema();
    final Schema other = newer.topic().valueSchema();
    return newer.observer() == observer && (known == null || other == null || known == other);
  }

  /** The newer of two observations of a topic; schemas that it lacks are taken from the older. */
  static TaskObservation merge(final TaskObservation older, final TaskObservation newer) {
    return new TaskObservation(
        newer.connector(),
        merge(older.topic(), newer.topic()),
        newer.type(),
        newer.observer(),
        older.isAlternating() || newer.isAlternating());
  }

  /** Tombstones have no schema and must not hide the one of earlier records. */
  private static ObservedTopic merge(final ObservedTopic older, final ObservedTopic newer) {
    return new ObservedTopic(
        newer.topic(),
        newer.keySchema() == null ? older.keySchema() : newer.keySchema(),
        newer.valueSchema() == null ? older.valueSchema() : newer.valueSchema(),
        newer.alias());
  }
}
