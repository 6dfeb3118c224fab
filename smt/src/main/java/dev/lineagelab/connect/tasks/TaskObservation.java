// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.tasks;

import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.ObservedTopic;

/**
 * Latest schemas of a topic that the transform of a task observed.
 *
 * @param connector that the task belongs to
 * @param observer transform instance that made the observation
 */
public record TaskObservation(
    String connector, ObservedTopic topic, ConnectorType type, TaskObserver observer) {

  /** The newer of two observations of a topic; schemas that it lacks are taken from the older. */
  static TaskObservation merge(final TaskObservation older, final TaskObservation newer) {
    if (newer.observer() != older.observer()) {
      return newer;
    }
    return new TaskObservation(
        newer.connector(), merge(older.topic(), newer.topic()), newer.type(), newer.observer());
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
