// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Date;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.data.Time;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.sink.SinkRecord;

/**
 * Encoder of record values as JSON lines. Equal values give equal bytes.
 *
 * <p>Decimals are text, so that readers keep all digits. Timestamps, dates and times are ISO 8601
 * text in UTC, bytes are Base64 text, NaN and infinities are text. A map with non-scalar keys is a
 * list of {@code [key, value]}. {@code JsonConverter} of Kafka Connect supports neither decimal nor
 * ISO 8601 text.
 */
final class JsonLines {
  static final String CONTENT_TYPE = "application/x-ndjson";

  private static final ObjectWriter JSON = new JsonMapper().writer();

  private JsonLines() {}

  /**
   * Encode the value of a record as one line, including the line feed.
   *
   * @throws DataException if the value has a type that JSON cannot represent
   */
  static byte[] encode(final SinkRecord record) {
    try {
      final byte[] json = JSON.writeValueAsBytes(plain(record.valueSchema(), record.value()));
      final byte[] line = Arrays.copyOf(json, json.length + 1);
      line[json.length] = '\n';
      return line;
    } catch (final JsonProcessingException e) {
      throw new DataException("cannot write the value as JSON: " + e.getOriginalMessage(), e);
    }
  }

  /** Convert a Connect value into what Jackson writes; {@code schema} is null if there is none. */
  private static Object plain(final Schema schema, final Object value) {
    if (value instanceof Struct struct) {
      final Map<String, Object> fields = new LinkedHashMap<>();
      struct
          .schema()
          .fields()
          .forEach(field -> fields.put(field.name(), plain(field.schema(), struct.get(field))));
      return fields;
    }
    if (value instanceof Map<?, ?> map) {
      return plainMap(schema, map);
    }
    if (value instanceof Collection<?> list) {
      final Schema items = schema == null ? null : schema.valueSchema();
      final List<Object> plain = new ArrayList<>();
      list.forEach(item -> plain.add(plain(items, item)));
      return plain;
    }
    if (value instanceof BigDecimal decimal) {
      return decimal.toPlainString();
    }
    if (value instanceof java.util.Date date) {
      return isoText(schema == null ? null : schema.name(), date);
    }
    if (value == null
        || isScalar(value)
        || value instanceof byte[]
        || value instanceof ByteBuffer) {
      return value;
    }
    throw new DataException("cannot write a " + value.getClass().getName() + " as JSON");
  }

  private static Object plainMap(final Schema schema, final Map<?, ?> map) {
    final Schema keys = schema == null ? null : schema.keySchema();
    final Schema values = schema == null ? null : schema.valueSchema();
    if (map.keySet().stream().allMatch(JsonLines::isScalar)) {
      final Map<String, Object> fields = new LinkedHashMap<>();
      map.forEach((key, value) -> fields.put(key.toString(), plain(values, value)));
      return fields;
    }
    final List<Object> pairs = new ArrayList<>();
    map.forEach((key, value) -> pairs.add(Arrays.asList(plain(keys, key), plain(values, value))));
    return pairs;
  }

  private static boolean isScalar(final Object value) {
    return value instanceof String || value instanceof Number || value instanceof Boolean;
  }

  private static String isoText(final String logicalName, final java.util.Date date) {
    final ZonedDateTime time = Instant.ofEpochMilli(date.getTime()).atZone(ZoneOffset.UTC);
    if (Date.LOGICAL_NAME.equals(logicalName)) {
      return time.toLocalDate().toString();
    }
    return Time.LOGICAL_NAME.equals(logicalName)
        ? time.toLocalTime().toString()
        : time.toInstant().toString();
  }
}
