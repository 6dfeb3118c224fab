// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.bench;

import java.math.BigDecimal;
import java.util.Date;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.data.Timestamp;
import org.apache.kafka.connect.sink.SinkRecord;

/** Prepared records as a converter passes them to a chain of transforms. */
final class Records {
  /** A power of two, so that the next index needs no division. */
  static final int COUNT = 1024;

  private Records() {}

  /**
   * Orders that cycle through {@code topics} topics, each with its own schema.
   *
   * @param hasNewNames whether each record has the name of its topic as a new object
   */
  static SinkRecord[] orders(final int topics, final boolean hasNewNames) {
    final String[] names = new String[topics];
    final Schema[] schemas = new Schema[topics];
    for (int topic = 0; topic < topics; topic++) {
      names[topic] = "shop.public.orders_" + topic;
      schemas[topic] = order();
    }
    final SinkRecord[] records = new SinkRecord[COUNT];
    for (int index = 0; index < COUNT; index++) {
      final String name = names[index % topics];
      final String topic = hasNewNames ? String.valueOf(name.toCharArray()) : name;
      records[index] = record(topic, schemas[index % topics], index);
    }
    return records;
  }

  private static SinkRecord record(final String topic, final Schema schema, final int number) {
    final Struct order =
        new Struct(schema)
            .put("order_id", "order " + number)
            .put("item", "chair")
            .put("price", BigDecimal.valueOf(number, 2))
            .put("quantity", number)
            .put("supplier", "supplier")
            .put("bid_time", new Date(number));
    return new SinkRecord(topic, 0, Schema.STRING_SCHEMA, "key", schema, order, number);
  }

  private static Schema order() {
    return SchemaBuilder.struct()
        .name("Order")
        .field("order_id", Schema.STRING_SCHEMA)
        .field("item", Schema.STRING_SCHEMA)
        .field("price", Decimal.schema(2))
        .field("quantity", Schema.INT32_SCHEMA)
        .field("supplier", Schema.OPTIONAL_STRING_SCHEMA)
        .field("bid_time", Timestamp.SCHEMA)
        .build();
  }
}
