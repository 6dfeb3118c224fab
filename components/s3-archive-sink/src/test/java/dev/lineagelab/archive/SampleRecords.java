// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.data.Date;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.data.Time;
import org.apache.kafka.connect.data.Timestamp;
import org.apache.kafka.connect.sink.SinkRecord;

/** Sample record with a field of every type. */
final class SampleRecords {
  static final long NOON = Instant.parse("2026-11-21T12:00:00Z").toEpochMilli();

  private static final Schema ITEM =
      SchemaBuilder.struct().name("lab.Item").field("sku", Schema.STRING_SCHEMA).build();

  static final Schema ORDER =
      SchemaBuilder.struct()
          .name("lab-1.shop.Order")
          .field("id", Schema.INT64_SCHEMA)
          .field("count", Schema.INT8_SCHEMA)
          .field("price", Decimal.builder(2).parameter("connect.decimal.precision", "10").build())
          .field("day", Date.SCHEMA)
          .field("time", Time.SCHEMA)
          .field("at", Timestamp.SCHEMA)
          .field("rate", Schema.FLOAT64_SCHEMA)
          .field("paid", Schema.BOOLEAN_SCHEMA)
          .field("raw", Schema.BYTES_SCHEMA)
          .field("note-1", Schema.OPTIONAL_STRING_SCHEMA)
          .field(
              "state",
              SchemaBuilder.string()
                  .name("io.debezium.data.Enum")
                  .parameter("allowed", "NEW,PAID")
                  .build())
          .field("first", ITEM)
          .field("items", SchemaBuilder.array(ITEM).build())
          .field("tags", SchemaBuilder.map(Schema.STRING_SCHEMA, Schema.STRING_SCHEMA).build())
          .field("codes", SchemaBuilder.map(Schema.INT32_SCHEMA, Schema.STRING_SCHEMA).build())
          .build();

  private SampleRecords() {}

  static Struct order() {
    return new Struct(ORDER)
        .put("id", 7L)
        .put("count", (byte) 2)
        .put("price", new BigDecimal("19.90"))
        .put("day", new java.util.Date(NOON - NOON % 86_400_000))
        .put("time", new java.util.Date(3_600_000))
        .put("at", new java.util.Date(NOON))
        .put("rate", Double.NaN)
        .put("paid", true)
        .put("raw", new byte[] {1, 2, 3})
        .put("state", "PAID")
        .put("first", item("a"))
        .put("items", List.of(item("a"), item("b")))
        .put("tags", Map.of("colour", "blue"))
        .put("codes", Map.of(5, "five"));
  }

  static SinkRecord record(final Schema schema, final Object value) {
    return new SinkRecord(
        "orders",
        0,
        Schema.STRING_SCHEMA,
        "key-7",
        schema,
        value,
        42,
        NOON,
        TimestampType.CREATE_TIME);
  }

  private static Struct item(final String sku) {
    return new Struct(ITEM).put("sku", sku);
  }
}
