// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import dev.lineagelab.connect.model.ObservedTopic;

/**
 * Topic that a transform observed, as shared between workers.
 *
 * @param since in milliseconds of this worker's clock: when the transform was configured, or when
 *     the observation of another worker arrived. Separates observations made before a change of
 *     configuration from those made after it
 */
public record TopicObservation(ObservedTopic topic, long since) {}
