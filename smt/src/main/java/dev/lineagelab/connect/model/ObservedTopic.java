// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.Objects;
import org.apache.kafka.connect.data.Schema;

/**
 * Topic and schemas that this plugin's transform observed at its place in the chain.
 *
 * @param topic for a sink, the topic that was read ({@code originalTopic}), regardless of routing;
 *     for a source, the record's topic at the transform's place
 * @param keySchema null if keys have none
 * @param valueSchema null if values have none, or none was observed
 * @param alias the transform's name in the configuration; null if unknown, in which case the chain
 *     has one transform of its class
 */
public record ObservedTopic(String topic, Schema keySchema, Schema valueSchema, String alias) {
  public ObservedTopic {
    Objects.requireNonNull(topic, "topic");
  }
}
