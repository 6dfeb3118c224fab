// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.errors.ConnectException;

/**
 * What was decided about one chunk of a topic partition.
 *
 * @param start the offset after the chunk before; 0 for the first
 * @param end the last offset of the chunk; the next chunk starts after it
 * @param objects where the records went; offsets that none of them names are in no object
 */
record LogEntry(TopicPartition partition, long start, long end, List<PlannedObject> objects) {

  static final String CONTENT_TYPE = "application/json";

  private static final int VERSION = 1;
  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * One object of a chunk.
   *
   * @param ranges ascending and disjoint; another object's offsets may lie between them
   */
  record PlannedObject(String key, List<OffsetRange> ranges) {}

  byte[] toJson() {
    final ObjectNode root = JSON.createObjectNode();
    root.put("version", VERSION);
    root.put("topic", partition.topic());
    root.put("partition", partition.partition());
    root.put("start", start);
    root.put("end", end);
    final ArrayNode list = root.putArray("objects");
    for (final PlannedObject object : objects) {
      final ObjectNode node = list.addObject();
      node.put("key", object.key());
      final ArrayNode ranges = node.putArray("offsets");
      object.ranges().forEach(range -> ranges.addArray().add(range.first()).add(range.last()));
    }
    try {
      return JSON.writeValueAsBytes(root);
    } catch (final JsonProcessingException e) {
      throw new IllegalStateException("a log entry cannot be written as JSON", e);
    }
  }

  /**
   * Reads an entry.
   *
   * @param key its name, for the error
   * @throws ConnectException it was not written by this connector, or by a newer one
   */
  static LogEntry parse(final String key, final byte[] json) {
    try {
      final JsonNode root = JSON.readTree(json);
      if (required(root, "version").asInt() != VERSION) {
        throw unreadable(key, "its version is " + root.get("version") + ", not " + VERSION, null);
      }
      final List<PlannedObject> objects = new ArrayList<>();
      for (final JsonNode node : required(root, "objects")) {
        final List<OffsetRange> ranges = new ArrayList<>();
        required(node, "offsets")
            .forEach(
                range ->
                    ranges.add(new OffsetRange(range.at("/0").asLong(), range.at("/1").asLong())));
        objects.add(new PlannedObject(required(node, "key").asText(), List.copyOf(ranges)));
      }
      return new LogEntry(
          new TopicPartition(required(root, "topic").asText(), required(root, "partition").asInt()),
          required(root, "start").asLong(),
          required(root, "end").asLong(),
          List.copyOf(objects));
    } catch (final IOException e) {
      throw unreadable(key, e.getMessage(), e);
    }
  }

  private static JsonNode required(final JsonNode node, final String field) throws IOException {
    final JsonNode value = node.get(field);
    if (value == null) {
      throw new IOException("it has no field '" + field + "'");
    }
    return value;
  }

  private static ConnectException unreadable(
      final String key, final String cause, final Throwable e) {
    return new ConnectException(
        "Reading the archive's log entry "
            + key
            + ": "
            + cause
            + ". Set "
            + Options.TOPICS_DIR
            + " to a folder of its own, or run the version of this connector that wrote the entry.",
        e);
  }
}
