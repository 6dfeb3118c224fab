// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.testing;

import java.math.BigDecimal;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.data.Timestamp;

/** Schema and values of generated records. Schemas are singletons: converters cache by identity. */
enum ValueShape {
  /** Order with two logical types and an optional field. */
  ORDER {
    @Override
    SchemaAndValue value(final long number) {
      return new SchemaAndValue(Schemas.ORDER, order(Schemas.ORDER, number));
    }
  },
  /** Order with an additional field: version 2 of its schema. */
  ORDER_WITH_NOTE {
    @Override
    SchemaAndValue value(final long number) {
      final Struct order = order(Schemas.ORDER_WITH_NOTE, number).put("note", "note " + number);
      return new SchemaAndValue(Schemas.ORDER_WITH_NOTE, order);
    }
  },
  /** Bid: a schema unrelated to the order. */
  BID {
    @Override
    SchemaAndValue value(final long number) {
      final Struct bid = new Struct(Schemas.BID).put("bid_id", number).put("amount", number * 0.5);
      return new SchemaAndValue(Schemas.BID, bid);
    }
  },
  /** Nested structs, and a list and a map of structs. */
  NESTED {
    @Override
    SchemaAndValue value(final long number) {
      final Struct place =
          new Struct(Schemas.PLACE).put("city", "city " + number).put("zip", "zip " + number);
      final Struct customer =
          new Struct(Schemas.CUSTOMER)
              .put("name", "name " + number)
              .put("home", place)
              .put("others", List.of(place))
              .put("by_kind", Map.of("work", place));
      return new SchemaAndValue(
          Schemas.NESTED, new Struct(Schemas.NESTED).put("id", number).put("customer", customer));
    }
  },
  /** Struct of 1,000 columns. */
  WIDE {
    @Override
    SchemaAndValue value(final long number) {
      final Struct row = new Struct(Schemas.WIDE);
      Schemas.WIDE.fields().forEach(column -> row.put(column, number));
      return new SchemaAndValue(Schemas.WIDE, row);
    }
  },
  /** Recursive schema. */
  RECURSIVE {
    @Override
    SchemaAndValue value(final long number) {
      final Struct leaf = new Struct(Schemas.TREE).put("name", "leaf " + number);
      final Struct root = new Struct(Schemas.TREE).put("name", "root " + number).put("child", leaf);
      return new SchemaAndValue(Schemas.TREE, root);
    }
  },
  /** Schemaless map with values of mixed types. */
  SCHEMALESS {
    @Override
    SchemaAndValue value(final long number) {
      final Map<String, Object> inner = new HashMap<>();
      inner.put("nothing", null);
      inner.put("list", List.of(1L, "two", Map.of("three", 3.0)));
      return new SchemaAndValue(null, Map.of("id", number, "anything", inner));
    }
  },
  /** Plain string. */
  TEXT {
    @Override
    SchemaAndValue value(final long number) {
      return new SchemaAndValue(Schema.STRING_SCHEMA, "text " + number);
    }
  },
  /** Tombstone. */
  TOMBSTONE {
    @Override
    SchemaAndValue value(final long number) {
      return SchemaAndValue.NULL;
    }
  };

  /** Return schema and value of a record; equal numbers give equal values. */
  abstract SchemaAndValue value(long number);

  /**
   * Parse the name of a shape.
   *
   * @throws IllegalArgumentException if the name is unknown
   */
  static ValueShape named(final String name) {
    return valueOf(name.strip().toUpperCase(Locale.ROOT));
  }

  private static Struct order(final Schema schema, final long number) {
    return new Struct(schema)
        .put("order_id", "order " + number)
        .put("price", BigDecimal.valueOf(number, 2))
        .put("supplier", number % 2 == 0 ? "supplier " + number : null)
        .put("bid_time", new Date(1_700_000_000_000L + number));
  }

  /** Holder class, because enum constants cannot refer to later static fields of the enum. */
  private static final class Schemas {
    static final int COLUMNS = 1_000;
    static final Schema ORDER = order().version(1).build();
    static final Schema ORDER_WITH_NOTE =
        order().version(2).field("note", Schema.OPTIONAL_STRING_SCHEMA).build();
    static final Schema BID =
        SchemaBuilder.struct()
            .name("Bid")
            .field("bid_id", Schema.INT64_SCHEMA)
            .field("amount", Schema.FLOAT64_SCHEMA)
            .build();
    static final Schema PLACE =
        SchemaBuilder.struct()
            .name("Place")
            .field("city", Schema.STRING_SCHEMA)
            .field("zip", Schema.STRING_SCHEMA)
            .build();
    static final Schema CUSTOMER =
        SchemaBuilder.struct()
            .name("Customer")
            .field("name", Schema.STRING_SCHEMA)
            .field("home", PLACE)
            .field("others", SchemaBuilder.array(PLACE).build())
            .field("by_kind", SchemaBuilder.map(Schema.STRING_SCHEMA, PLACE).build())
            .build();
    static final Schema NESTED =
        SchemaBuilder.struct()
            .name("Nested")
            .field("id", Schema.INT64_SCHEMA)
            .field("customer", CUSTOMER)
            .build();
    static final Schema WIDE = wide();
    static final Schema TREE = tree();

    private Schemas() {}

    private static SchemaBuilder order() {
      return SchemaBuilder.struct()
          .name("Order")
          .field("order_id", Schema.STRING_SCHEMA)
          .field("price", Decimal.builder(2).build())
          .field("supplier", Schema.OPTIONAL_STRING_SCHEMA)
          .field("bid_time", Timestamp.SCHEMA);
    }

    private static Schema wide() {
      final SchemaBuilder columns = SchemaBuilder.struct().name("Wide");
      for (int column = 0; column < COLUMNS; column++) {
        columns.field(String.format(Locale.ROOT, "column_%04d", column), Schema.INT64_SCHEMA);
      }
      return columns.build();
    }

    /** Build a cycle, which requires the builder itself as a field schema. */
    private static Schema tree() {
      final SchemaBuilder tree = SchemaBuilder.struct().name("Tree").optional();
      tree.field("name", Schema.STRING_SCHEMA);
      tree.field("child", tree);
      return tree;
    }
  }
}
