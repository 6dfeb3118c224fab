// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;

/**
 * Key of a record of the state topic.
 *
 * @param group of workers, as several may share the topic
 * @param connector empty for counts, which are those of all connectors
 * @param detail topic of an observation, worker of counts or generation of a terminal event; empty
 *     for the connector itself
 */
record StateKey(String kind, String group, String connector, String detail) {
  static final String RUN = "run";
  static final String TOPIC = "topic";
  static final String COUNTS = "counts";
  static final String EVENT = "event";
  static final String TERMINAL = "terminal";

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

  /** Decode a key; null if the text is not a valid one. */
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
