// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;

/**
 * What a fact is about.
 *
 * @param group of workers: several may share the topic
 * @param detail a topic, or the worker that counts; empty for facts of the connector
 */
record StateKey(String kind, String group, String connector, String detail) {
  static final String RUN = "run";
  static final String TOPIC = "topic";
  static final String COUNTS = "counts";
  static final String EVENT = "event";

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int PARTS = 4;

  String encode() {
    return JsonNodeFactory.instance
        .arrayNode()
        .add(kind)
        .add(group)
        .add(connector)
        .add(detail)
        .toString();
  }

  /** The key; null if the text is none. */
  static StateKey decode(final String text) {
    try {
      final JsonNode json = JSON.readTree(text);
      return json.isArray() && json.size() == PARTS
          ? new StateKey(
              json.get(0).asText(),
              json.get(1).asText(),
              json.get(2).asText(),
              json.get(3).asText())
          : null;
    } catch (final JsonProcessingException e) {
      return null;
    }
  }
}
