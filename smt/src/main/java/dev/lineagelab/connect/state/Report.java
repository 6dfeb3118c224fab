// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import dev.lineagelab.connect.model.ObservedTopic;

/**
 * What a task's transform saw of a topic.
 *
 * @param since by this worker's clock, in milliseconds: when the transform was configured, or when
 *     the report of another worker's transform arrived. It tells reports of before a change of
 *     configuration from those after it
 */
public record Report(ObservedTopic topic, long since) {}
