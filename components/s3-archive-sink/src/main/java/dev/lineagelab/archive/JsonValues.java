// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Collection;
import java.util.Date;
import java.util.Map;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.data.Time;
import org.apache.kafka.connect.errors.DataException;

/**
 * Connect's values as JSON. Bytes are Base64 text. A map whose keys are not scalar is a list of
 * {@code [key, value]}. JSON has no NaN and no infinity: they are text.
 *
 * @param isDecimalNumeric decimals are numbers, else text
 * @param isTimeEpoch timestamps and times are milliseconds and dates are days since 1970, else all
 *     are ISO 8601 text in UTC
 */
record JsonValues(boolean isDecimalNumeric, boolean isTimeEpoch) {
  private static final long DAY_MS = 86_400_000L;

  /**
   * Writes a value.
   *
   * @param schema null where there is none
   */
  void write(final JsonGenerator json, final Schema schema, final Object value) throws IOException {
    if (value == null) {
      json.writeNull();
    } else if (value instanceof Struct struct) {
      writeStruct(json, struct);
    } else if (value instanceof Map<?, ?> map) {
      writeMap(json, schema, map);
    } else if (value instanceof Collection<?> list) {
      json.writeStartArray();
      for (final Object item : list) {
        write(json, schema == null ? null : schema.valueSchema(), item);
      }
      json.writeEndArray();
    } else {
      writeScalar(json, schema, value);
    }
  }

  private void writeStruct(final JsonGenerator json, final Struct struct) throws IOException {
    json.writeStartObject();
    for (final Field field : struct.schema().fields()) {
      json.writeFieldName(field.name());
      write(json, field.schema(), struct.get(field));
    }
    json.writeEndObject();
  }

  private void writeMap(final JsonGenerator json, final Schema schema, final Map<?, ?> map)
      throws IOException {
    final Schema keys = schema == null ? null : schema.keySchema();
    final Schema values = schema == null ? null : schema.valueSchema();
    if (map.keySet().stream().allMatch(JsonValues::isName)) {
      json.writeStartObject();
      for (final Map.Entry<?, ?> entry : map.entrySet()) {
        json.writeFieldName(entry.getKey().toString());
        write(json, values, entry.getValue());
      }
      json.writeEndObject();
    } else {
      json.writeStartArray();
      for (final Map.Entry<?, ?> entry : map.entrySet()) {
        json.writeStartArray();
        write(json, keys, entry.getKey());
        write(json, values, entry.getValue());
        json.writeEndArray();
      }
      json.writeEndArray();
    }
  }

  private static boolean isName(final Object key) {
    return key instanceof String || key instanceof Number || key instanceof Boolean;
  }

  private void writeScalar(final JsonGenerator json, final Schema schema, final Object value)
      throws IOException {
    if (value instanceof String text) {
      json.writeString(text);
    } else if (value instanceof Boolean flag) {
      json.writeBoolean(flag);
    } else if (value instanceof BigDecimal decimal) {
      if (isDecimalNumeric) {
        json.writeNumber(decimal);
      } else {
        json.writeString(decimal.toPlainString());
      }
    } else if (value instanceof Number number) {
      writeNumber(json, number);
    } else if (value instanceof Date date) {
      writeTime(json, schema == null ? null : schema.name(), date);
    } else if (value instanceof byte[] bytes) {
      json.writeBinary(bytes);
    } else if (value instanceof ByteBuffer buffer) {
      final byte[] bytes = new byte[buffer.remaining()];
      buffer.duplicate().get(bytes);
      json.writeBinary(bytes);
    } else {
      throw new DataException("a " + value.getClass().getName() + " cannot be written as JSON");
    }
  }

  private static void writeNumber(final JsonGenerator json, final Number number)
      throws IOException {
    if (number instanceof Double || number instanceof Float) {
      if (!Double.isFinite(number.doubleValue())) {
        json.writeString(number.toString());
      } else if (number instanceof Float single) {
        json.writeNumber(single);
      } else {
        json.writeNumber(number.doubleValue());
      }
    } else if (number instanceof BigInteger big) {
      json.writeNumber(big);
    } else {
      json.writeNumber(number.longValue());
    }
  }

  private void writeTime(final JsonGenerator json, final String logicalName, final Date date)
      throws IOException {
    final long millis = date.getTime();
    final boolean isDate = org.apache.kafka.connect.data.Date.LOGICAL_NAME.equals(logicalName);
    if (isTimeEpoch) {
      json.writeNumber(isDate ? Math.floorDiv(millis, DAY_MS) : millis);
      return;
    }
    final ZonedDateTime time = Instant.ofEpochMilli(millis).atZone(ZoneOffset.UTC);
    if (isDate) {
      json.writeString(time.toLocalDate().toString());
    } else if (Time.LOGICAL_NAME.equals(logicalName)) {
      json.writeString(time.toLocalTime().toString());
    } else {
      json.writeString(time.toInstant().toString());
    }
  }
}
