// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.errors.ConnectException;

/**
 * Entry of the write-ahead log: the decision about one chunk of a topic partition. The record
 * components are the fields of its JSON document, in this order.
 *
 * @param version of the document; {@value #VERSION}
 * @param start first offset after the previous chunk; 0 for the first chunk
 * @param end last offset of the chunk; the next chunk starts after it
 * @param objects objects of the chunk; offsets in none of their ranges are in no object
 */
record LogEntry(
    int version, String topic, int partition, long start, long end, List<PlannedObject> objects) {

  static final String CONTENT_TYPE = "application/json";

  private static final int VERSION = 1;
  private static final ObjectMapper JSON =
      JsonMapper.builder()
          .enable(
              DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES,
              DeserializationFeature.FAIL_ON_NULL_CREATOR_PROPERTIES)
          .build();

  /**
   * Object of a chunk.
   *
   * @param ranges ascending and disjoint; offsets between them belong to other objects
   */
  record PlannedObject(String key, @JsonProperty("offsets") List<OffsetRange> ranges) {}

  static LogEntry of(
      final TopicPartition partition,
      final long start,
      final long end,
      final List<PlannedObject> objects) {
    return new LogEntry(VERSION, partition.topic(), partition.partition(), start, end, objects);
  }

  byte[] toJson() {
    try {
      return JSON.writeValueAsBytes(this);
    } catch (final JsonProcessingException e) {
      throw new IllegalStateException("cannot write " + this + " as JSON", e);
    }
  }

  /**
   * Parse an entry.
   *
   * @param key of the entry, for the error message
   * @throws ConnectException if this version of the connector cannot read the entry
   */
  static LogEntry parse(final String key, final byte[] json) {
    try {
      final JsonNode document = JSON.readTree(json);
      final JsonNode version = document.path("version");
      if (version.asInt() != VERSION) {
        throw unreadable(key, "expected version " + VERSION + ", found '" + version + "'", null);
      }
      return JSON.treeToValue(document, LogEntry.class);
    } catch (final JsonProcessingException e) {
      throw unreadable(key, e.getOriginalMessage(), e);
    } catch (final IOException e) {
      throw unreadable(key, e.getMessage(), e);
    }
  }

  private static ConnectException unreadable(
      final String key, final String cause, final Throwable e) {
    return new ConnectException(
        ("Reading log entry %s: %s. Set %s to an unused folder, or run the version of this "
                + "connector that wrote it.")
            .formatted(key, cause, ArchiveConfig.TOPICS_DIR),
        e);
  }
}
