// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.Objects;
import org.apache.kafka.connect.data.Schema;

/**
 * What this plugin's transform saw of a topic, at its place in the chain.
 *
 * @param topic of a sink the topic that was read ({@code originalTopic}), whatever was routed; of a
 *     source the record's topic at the transform's place
 * @param keySchema null if keys have none
 * @param valueSchema null if values have none, or none was seen
 * @param alias the transform's name in the configuration; null if unknown, then there is one
 *     transform of its class
 */
public record ObservedTopic(String topic, Schema keySchema, Schema valueSchema, String alias) {
  public ObservedTopic {
    Objects.requireNonNull(topic, "topic");
  }
}
