// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.SymbolicValue.Unknown;
import io.debezium.transforms.outbox.EventRouter;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.source.SourceRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Model of the outbox router against the router itself. */
class DebeziumEventRouterTest {
  private static final String ROUTER = "io.debezium.transforms.outbox.EventRouter";
  private static final int CONFIGURATIONS = 300;
  private static final List<String> COLUMNS =
      List.of("id", "aggregatetype", "aggregateid", "type", "payload", "tenant", "shard", "at");

  private static final Schema ROW =
      SchemaBuilder.struct()
          .name("shop.public.outbox.Value")
          .optional()
          .field("id", Schema.STRING_SCHEMA)
          .field("aggregatetype", Schema.STRING_SCHEMA)
          .field("aggregateid", Schema.STRING_SCHEMA)
          .field("type", Schema.STRING_SCHEMA)
          .field("payload", Schema.OPTIONAL_STRING_SCHEMA)
          .field("tenant", Schema.OPTIONAL_STRING_SCHEMA)
          .field("shard", Schema.INT32_SCHEMA)
          .field(
              "at",
              SchemaBuilder.int64().name("io.debezium.time.MicroTimestamp").version(1).build())
          .build();

  private static final Schema ENVELOPE =
      SchemaBuilder.struct()
          .name("shop.public.outbox.Envelope")
          .field("before", ROW)
          .field("after", ROW)
          .field(
              "source",
              SchemaBuilder.struct()
                  .name("io.debezium.connector.postgresql.Source")
                  .field("table", Schema.STRING_SCHEMA)
                  .build())
          .field("op", Schema.STRING_SCHEMA)
          .field("ts_ms", Schema.OPTIONAL_INT64_SCHEMA)
          .build();

  private static final Schema KEY =
      SchemaBuilder.struct()
          .name("shop.public.outbox.Key")
          .field("id", Schema.STRING_SCHEMA)
          .build();

  private static SourceRecord inserted(final String changed) {
    final Struct row = new Struct(ROW);
    COLUMNS.forEach(column -> row.put(column, value(column, column.equals(changed))));
    final Struct event =
        new Struct(ENVELOPE)
            .put("after", row)
            .put("source", new Struct(ENVELOPE.field("source").schema()).put("table", "outbox"))
            .put("op", "c")
            .put("ts_ms", "ts_ms".equals(changed) ? 6L : 5L);
    return record(event);
  }

  private static Object value(final String column, final boolean isChanged) {
    return switch (column) {
      case "shard" -> isChanged ? 2 : 1;
      case "at" -> isChanged ? 2_000_000L : 1_000_000L;
      default -> column + (isChanged ? "2" : "1");
    };
  }

  private static SourceRecord record(final Struct event) {
    return new SourceRecord(
        Map.of(),
        Map.of(),
        "shop.public.outbox",
        null,
        KEY,
        new Struct(KEY).put("id", "k"),
        event == null ? null : ENVELOPE,
        event);
  }

  /** Return the event of a record by the router itself; empty if it drops the record or fails. */
  private static Optional<SourceRecord> event(
      final Map<String, String> options, final SourceRecord record) {
    try (EventRouter<SourceRecord> router = new EventRouter<>()) {
      router.configure(options);
      return Optional.ofNullable(router.apply(record));
    } catch (final ConnectException e) {
      return Optional.empty();
    }
  }

  private static Map<String, String> config(final Map<String, String> options) {
    final Map<String, String> config = new HashMap<>();
    config.put("transforms", "outbox");
    config.put("transforms.outbox.type", ROUTER);
    options.forEach((name, value) -> config.put("transforms.outbox." + name, value));
    return config;
  }

  private static List<SymbolicRecord> routed(final Map<String, String> options) {
    final SymbolicRecord start =
        SchemaRefinement.refine(SymbolicRecord.initial("shop.public.outbox"), KEY, ENVELOPE);
    return TransformChain.of(config(options), Set.of())
        .apply(start.withValue(start.value(), false));
  }

  @Test
  void predictsTheOriginsOfEachPartOfAnEvent() {
    final Random random = new Random(1);
    for (int i = 0; i < CONFIGURATIONS; i++) {
      final Map<String, String> options = options(random);
      final Map<String, Object> before = parts(event(options, inserted(null)).orElseThrow());
      final SymbolicRecord event = routed(options).get(0);
      final Map<String, Set<String>> predicted = predicted(event);
      assertThat(predicted.keySet()).as("%s", options).isEqualTo(before.keySet());
      final Set<String> inputs = new TreeSet<>(COLUMNS);
      inputs.add("ts_ms");
      for (final String input : inputs) {
        final Map<String, Object> after = parts(event(options, inserted(input)).orElseThrow());
        final Set<String> changed = new HashSet<>();
        before.forEach(
            (part, value) -> {
              if (!Objects.equals(value, after.get(part))) {
                changed.add(part);
              }
            });
        final Set<String> expected = new HashSet<>();
        predicted.forEach(
            (part, origins) -> {
              if (origins.contains(input)) {
                expected.add(part);
              }
            });
        if (options.containsKey("table.field.event.timestamp") && "ts_ms".equals(input)) {
          // Used only where the column is null.
          expected.remove("timestamp");
        }
        assertThat(changed).as("%s with %s", input, options).isEqualTo(expected);
      }
    }
  }

  private static Map<String, String> options(final Random random) {
    final Map<String, String> options = new LinkedHashMap<>();
    if (random.nextBoolean()) {
      options.put("table.field.event.key", List.of("id", "tenant").get(random.nextInt(2)));
    }
    if (random.nextInt(3) == 0) {
      options.put("table.field.event.payload", "type");
    }
    if (random.nextBoolean()) {
      options.put("table.field.event.timestamp", "at");
    }
    final List<String> placements =
        List.of(
            "",
            "tenant:envelope",
            "tenant:envelope:who,type:header",
            "shard:partition",
            "type:header:kind");
    options.put(
        "table.fields.additional.placement", placements.get(random.nextInt(placements.size())));
    if (options.get("table.fields.additional.placement").isEmpty()) {
      options.remove("table.fields.additional.placement");
    }
    if (random.nextInt(3) == 0) {
      options.put("route.tombstone.on.empty.payload", "true");
    }
    return options;
  }

  private static Map<String, Object> parts(final SourceRecord record) {
    final Map<String, Object> parts = new HashMap<>();
    parts.put("key", record.key());
    parts.put("timestamp", record.timestamp());
    parts.put("partition", record.kafkaPartition());
    parts.putAll(RandomSchemas.flat("value", record.value()));
    return parts;
  }

  private static Map<String, Set<String>> predicted(final SymbolicRecord event) {
    final Map<String, Set<String>> parts = new HashMap<>();
    parts.put("key", columns(event.key()));
    parts.put("timestamp", columns(event.metadata().get(Part.TIMESTAMP)));
    parts.put("partition", columns(event.metadata().get(Part.PARTITION)));
    if (event.value() instanceof final StructValue struct) {
      struct.fields().forEach((name, field) -> parts.put("value/" + name, columns(field)));
    } else {
      parts.put("value", columns(event.value()));
    }
    return parts;
  }

  /** Return the columns of the row, and fields of the change event, that a value depends on. */
  private static Set<String> columns(final SymbolicValue value) {
    final Set<String> columns = new TreeSet<>();
    final List<SymbolicValue> all =
        value instanceof final SymbolicValue.OneOf oneOf ? oneOf.values() : List.of(value);
    for (final SymbolicValue one : all) {
      assertThat(one).isInstanceOf(Leaf.class);
      ((Leaf) one)
          .contributions()
          .forEach(
              contribution -> {
                final List<String> path = contribution.origin().path();
                if (!path.isEmpty()) {
                  columns.add(path.get(path.size() - 1));
                }
              });
    }
    return columns;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      value = {
        "-                  | outbox.event.aggregatetype1",
        "events             | events",
        "${routedByValue}   | aggregatetype1",
        "a.${routedByValue}.b | a.aggregatetype1.b",
      })
  void topicsAreThoseThatTheRouterNames(final String replacement, final String topic) {
    final Map<String, String> options =
        replacement == null ? Map.of() : Map.of("route.topic.replacement", replacement);
    assertThat(event(options, inserted(null)).orElseThrow().topic()).isEqualTo(topic);
    final TopicName name = routed(options).get(0).topic();
    assertThat(name.canEqual(topic)).isTrue();
    assertThat(name.canEqual("shop.public.outbox"))
        .isEqualTo("${routedByValue}".equals(replacement));
  }

  @Test
  void topicsOfAnotherExpressionAreUnknown() {
    final Map<String, String> options =
        Map.of("route.topic.regex", "(.*)type(.)", "route.topic.replacement", "$1$2");
    assertThat(event(options, inserted(null)).orElseThrow().topic()).isEqualTo("aggregate1");
    assertThat(routed(options).get(0).topic())
        .isEqualTo(
            new TopicName.Unknown(
                "The topic depends on the column 'aggregatetype' of the outbox."));
  }

  @Test
  void emptyPayloadsCanBecomeTombstones() {
    final List<SymbolicRecord> events = routed(Map.of("route.tombstone.on.empty.payload", "true"));
    assertThat(events).extracting(SymbolicRecord::tombstone).containsExactly(false, true);
  }

  @Test
  void expandedPayloadIsUnknown() {
    assertThat(routed(Map.of("table.expand.json.payload", "true")).get(0).value())
        .isEqualTo(Unknown.because("The value's fields are made from JSON text."));
  }

  @Test
  void updatesDeletesAndTombstonesAreDroppedAndOtherRecordsPass() {
    for (final String operation : List.of("u", "d")) {
      final SourceRecord changed = inserted(null);
      ((Struct) changed.value()).put("op", operation);
      assertThat(event(Map.of(), changed)).isEmpty();
    }
    assertThat(event(Map.of(), record(null))).isEmpty();
    final TransformChain chain = TransformChain.of(config(Map.of()), Set.of());
    final SymbolicRecord any = SymbolicRecord.initial("shop.public.outbox");
    assertThat(chain.apply(any.withValue(SymbolicValue.ABSENT, true))).isEmpty();

    final Struct heartbeat = new Struct(KEY).put("id", "h");
    final SourceRecord other =
        new SourceRecord(Map.of(), Map.of(), "heartbeat", KEY, heartbeat, KEY, heartbeat);
    assertThat(event(Map.of(), other)).isEqualTo(Optional.of(other));
    final SymbolicRecord refined =
        SchemaRefinement.refine(SymbolicRecord.initial("heartbeat"), KEY, KEY);
    assertThat(chain.apply(refined)).containsExactly(refined);
  }

  @Test
  void recordsOfUnknownSchemaAreUnknown() {
    final List<SymbolicRecord> records =
        TransformChain.of(config(Map.of()), Set.of())
            .apply(SymbolicRecord.initial("shop.public.outbox"));
    assertThat(records.get(0).reasons()).contains(DebeziumTransforms.UNKNOWN_KIND);
  }

  @Test
  void columnThatIsMissingFailsTheRouter() {
    final Map<String, String> options = Map.of("table.field.event.payload", "nothing");
    assertThat(event(options, inserted(null))).isEmpty();
    assertThat(routed(options)).isEmpty();
  }
}
