// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import dev.lineagelab.connect.model.ObservedTopic;

/**
 * Topic that a transform observed, as shared between workers.
 *
 * @param since in milliseconds of this worker's clock: when the transform was configured, or when
 *     the observation of another worker arrived. Separates observations made before a change of
 *     configuration from those made after it
 * @param isAlternating whether the schema has returned after another one of the same topic
 */
public record TopicObservation(ObservedTopic topic, long since, boolean isAlternating) {
  /** Create an observation of schemas that replace those of the same name. */
  public TopicObservation(final ObservedTopic topic, final long since) {
    this(topic, since, false);
  }

  /** Name of the value's type; null if it has none. */
  String typeName() {
    return topic.valueSchema() == null ? null : topic.valueSchema().name();
  }
}
