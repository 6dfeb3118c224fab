// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.model.EdgeKind;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.sink.SinkRecord;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Model of Debezium's converter of time zones against the converter itself. */
class TimezoneConverterTest {
  private static final Schema ROW =
      SchemaBuilder.struct()
          .name("shop.public.orders.Value")
          .optional()
          .field("id", Schema.INT64_SCHEMA)
          .field("name", Schema.STRING_SCHEMA)
          .field("millis", time("Timestamp"))
          .field("micros", time("MicroTimestamp"))
          .field("nanos", time("NanoTimestamp"))
          .field("connect", org.apache.kafka.connect.data.Timestamp.SCHEMA)
          .field("day", SchemaBuilder.int32().name("io.debezium.time.Date").build())
          .field("zoned", SchemaBuilder.string().name("io.debezium.time.ZonedTimestamp").build())
          .build();

  private static final Schema ENVELOPE =
      SchemaBuilder.struct()
          .name("shop.public.orders.Envelope")
          .field("before", ROW)
          .field("after", ROW)
          .field(
              "source",
              SchemaBuilder.struct()
                  .name("io.debezium.connector.postgresql.Source")
                  .field("table", Schema.STRING_SCHEMA)
                  .build())
          .field("op", Schema.STRING_SCHEMA)
          .build();

  private static Schema time(final String name) {
    return SchemaBuilder.int64().name("io.debezium.time." + name).version(1).build();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        "-            | -",
        "include.list | source:orders",
        "include.list | source:orders:micros",
        "include.list | topic:orders:millis,orders:zoned",
        "include.list | orders:connect",
        "exclude.list | source:orders:nanos",
        "exclude.list | orders:micros",
      })
  void namesTheColumnsThatChange(final String option, final String rules) {
    final Map<String, String> config = new HashMap<>();
    config.put("transforms", "zone");
    config.put("transforms.zone.type", "io.debezium.transforms.TimezoneConverter");
    config.put("transforms.zone.converted.timezone", "+02:00");
    if (option != null) {
      config.put("transforms.zone." + option, rules);
    }

    assertThat(predicted(config)).isEqualTo(converted(config)).isNotEmpty();
  }

  private static Set<String> predicted(final Map<String, String> config) {
    final SymbolicRecord start =
        SchemaRefinement.refine(SymbolicRecord.initial("orders"), null, ENVELOPE);
    final SymbolicRecord result =
        TransformChain.of(config, Set.of()).apply(start.withValue(start.value(), false)).get(0);
    final Set<String> columns = new TreeSet<>();
    for (final Field field : ROW.fields()) {
      final Leaf leaf = (Leaf) result.value().child("after").child(field.name());
      if (leaf.contributions().first().kind() == EdgeKind.TRANSFORMATION) {
        columns.add(field.name());
      }
    }
    return columns;
  }

  private static Set<String> converted(final Map<String, String> config) {
    final Struct row = row();
    final Struct event =
        new Struct(ENVELOPE)
            .put("after", row())
            .put("source", new Struct(ENVELOPE.field("source").schema()).put("table", "orders"))
            .put("op", "c");
    final SinkRecord output =
        new KafkaTransformChain(config)
            .apply(new SinkRecord("orders", 0, null, null, ENVELOPE, event, 5L))
            .orElseThrow();
    final Struct changed = ((Struct) output.value()).getStruct("after");
    final Set<String> columns = new TreeSet<>();
    for (final Field field : ROW.fields()) {
      if (!Objects.equals(row.get(field), changed.get(field))) {
        columns.add(field.name());
      }
    }
    return columns;
  }

  private static Struct row() {
    return new Struct(ROW)
        .put("id", 1L)
        .put("name", "n")
        .put("millis", 1_700_000_000_000L)
        .put("micros", 1_700_000_000_000_000L)
        .put("nanos", 1_700_000_000_000_000_000L)
        .put("connect", new java.util.Date(1_700_000_000_000L))
        .put("day", 20_000)
        .put("zoned", "2026-01-02T03:04:05Z");
  }
}
