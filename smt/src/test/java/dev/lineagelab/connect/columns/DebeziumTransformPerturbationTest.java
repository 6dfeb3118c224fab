// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.sink.SinkRecord;
import org.junit.jupiter.api.Test;

/**
 * Perturbation test of Debezium's transforms: an output column changes with an input column, in
 * updates or deletes, exactly if the chain's symbolic result names that origin.
 */
class DebeziumTransformPerturbationTest {
  private static final int CHAINS = Integer.getInteger("chains", 1_000);
  private static final String DEBEZIUM = "io.debezium.transforms.";
  private static final String ICEBERG = "org.apache.iceberg.connect.transforms.DebeziumTransform";
  private static final List<String> MODES =
      List.of("drop", "tombstone", "rewrite", "rewrite-with-tombstone", "delete-to-tombstone");

  /** Change events of a random table. Each part of an event can be perturbed. */
  private static final class Events {
    private final Schema row;
    private final Schema key;
    private final Schema source =
        SchemaBuilder.struct()
            .field("db", Schema.STRING_SCHEMA)
            .field("schema", Schema.STRING_SCHEMA)
            .field("table", Schema.STRING_SCHEMA)
            .field("lsn", Schema.OPTIONAL_INT64_SCHEMA)
            .field("ts_ms", Schema.INT64_SCHEMA)
            .build();
    private final Schema envelope;

    Events(final Random random) {
      final RandomSchemas samples = new RandomSchemas(random);
      row = samples.struct(1, "shop.public.orders.Value");
      key = samples.struct(2, "shop.public.orders.Key");
      final Schema optional = copy(row);
      envelope =
          SchemaBuilder.struct()
              .name("shop.public.orders.Envelope")
              .field("before", optional)
              .field("after", optional)
              .field("source", source)
              .field("op", Schema.STRING_SCHEMA)
              .field("ts_ms", Schema.OPTIONAL_INT64_SCHEMA)
              .build();
    }

    private static Schema copy(final Schema struct) {
      final SchemaBuilder builder = SchemaBuilder.struct().name(struct.name()).optional();
      struct.fields().forEach(field -> builder.field(field.name(), field.schema()));
      return builder.build();
    }

    SinkRecord record(final String op, final Origin changed) {
      final Struct value = new Struct(envelope);
      value.put("before", row("before", 1, changed));
      value.put("after", "d".equals(op) ? null : row("after", 30, changed));
      final Struct origin = new Struct(source);
      origin.put("db", "shop").put("schema", "public").put("table", "orders");
      origin.put("lsn", is(changed, "source", "lsn") ? 99L : 98L).put("ts_ms", 97L);
      value.put("source", origin).put("op", op);
      value.put("ts_ms", is(changed, "ts_ms") ? 96L : 95L);
      return new SinkRecord(
          "shop.public.orders",
          0,
          key,
          keyOf(changed),
          envelope,
          value,
          5L,
          7L,
          TimestampType.CREATE_TIME);
    }

    private Object keyOf(final Origin changed) {
      final Map<List<String>, Integer> numbers = RandomSchemas.numbers(key, 60);
      if (changed != null && changed.part() == Part.KEY) {
        numbers.merge(changed.path(), 30, Integer::sum);
      }
      return RandomSchemas.value(key, numbers);
    }

    private Struct row(final String image, final int first, final Origin changed) {
      final Map<List<String>, Integer> numbers = RandomSchemas.numbers(row, first);
      if (changed != null && changed.part() == Part.VALUE && image.equals(changed.path().get(0))) {
        numbers.merge(changed.path().subList(1, changed.path().size()), 60, Integer::sum);
      }
      final Schema optional = envelope.field(image).schema();
      final Struct filled = (Struct) RandomSchemas.value(row, numbers);
      final Struct struct = new Struct(optional);
      row.fields().forEach(field -> struct.put(field.name(), filled.get(field)));
      return struct;
    }

    private static boolean is(final Origin changed, final String... path) {
      return changed != null
          && changed.part() == Part.VALUE
          && changed.path().equals(List.of(path));
    }

    List<Origin> origins() {
      final List<Origin> origins = new ArrayList<>();
      for (final String image : List.of("before", "after")) {
        for (final List<String> path : RandomSchemas.leaves(row)) {
          final List<String> full = new ArrayList<>(List.of(image));
          full.addAll(path);
          origins.add(new Origin(Part.VALUE, full));
        }
      }
      RandomSchemas.leaves(key).forEach(path -> origins.add(new Origin(Part.KEY, path)));
      origins.add(new Origin(Part.VALUE, List.of("source", "lsn")));
      origins.add(new Origin(Part.VALUE, List.of("ts_ms")));
      return origins;
    }
  }

  @Test
  void predictsTheOriginsOfEachColumn() {
    int columns = 0;
    for (int seed = 0; seed < CHAINS; seed++) {
      final Random random = new Random(seed);
      final Events events = new Events(random);
      final Map<String, String> config = config(random);
      columns += check("seed " + seed + " " + config, events, config);
    }
    assertThat(columns).as("checked columns").isGreaterThan(CHAINS);
  }

  private static Map<String, String> config(final Random random) {
    final RandomChainConfig chains = new RandomChainConfig(random, false);
    if (random.nextInt(3) == 0) {
      chains.add(
          DEBEZIUM + "ByLogicalTableRouter",
          Map.of(
              "topic.regex", "shop\\.(.*)",
              "topic.replacement", "$1",
              "key.enforce.uniqueness", Boolean.toString(random.nextBoolean())));
    }
    if (random.nextInt(4) == 0) {
      chains.add(DEBEZIUM + "TimezoneConverter", Map.of("converted.timezone", "+02:00"));
    }
    switch (random.nextInt(4)) {
      case 0 -> chains.add(ICEBERG, Map.of("cdc.target.pattern", "{db}_x.{table}"));
      case 1 -> {
        // The chain receives the entire change event.
      }
      default -> chains.add(DEBEZIUM + "ExtractNewRecordState", unwrap(random));
    }
    return chains.addRandomTransforms(random.nextInt(3)).config();
  }

  private static Map<String, String> unwrap(final Random random) {
    final Map<String, String> options = new HashMap<>();
    options.put("delete.tombstone.handling.mode", MODES.get(random.nextInt(MODES.size())));
    if (random.nextBoolean()) {
      options.put("add.fields", "lsn,source.ts_ms,ts_ms,op:what,no_such");
    }
    if (random.nextInt(3) == 0) {
      options.put("add.fields.prefix", "_");
      options.put("add.headers", "lsn");
    }
    return options;
  }

  private static int check(
      final String what, final Events events, final Map<String, String> config) {
    final KafkaTransformChain real = new KafkaTransformChain(config);
    if (real.apply(events.record("u", null)).isEmpty()) {
      return 0;
    }
    final SymbolicRecord start =
        SchemaRefinement.refine(
            SymbolicRecord.initial("shop.public.orders"), events.key, events.envelope);
    final List<SymbolicRecord> branches =
        TransformChain.of(config, Set.of()).apply(start.withValue(start.value(), false));
    final Map<String, Set<Contribution>> predicted = predicted(branches);
    final Map<Origin, Set<String>> found = new HashMap<>();
    for (final String op : List.of("u", "d")) {
      real.apply(events.record(op, null))
          .ifPresent(output -> observe(what, events, real, op, output, predicted, found));
    }
    for (final Map.Entry<Origin, Set<String>> changes : found.entrySet()) {
      assertThat(changes.getValue())
          .as("%s: columns that change with %s", what, changes.getKey())
          .isEqualTo(pathsFrom(changes.getKey(), predicted));
    }
    return found.isEmpty() ? 0 : predicted.size();
  }

  private static void observe(
      final String what,
      final Events events,
      final KafkaTransformChain real,
      final String op,
      final SinkRecord output,
      final Map<String, Set<Contribution>> predicted,
      final Map<Origin, Set<String>> found) {
    final Map<String, Object> before = leaves(output);
    if (output.value() != null) {
      assertThat(predicted.keySet()).as(what).containsAll(before.keySet());
    }
    for (final Origin origin : events.origins()) {
      final SinkRecord changed = real.apply(events.record(op, origin)).orElseThrow();
      final Set<String> paths = found.computeIfAbsent(origin, key -> new TreeSet<>());
      leaves(changed)
          .forEach(
              (path, value) -> {
                if (!Objects.equals(value, before.get(path))) {
                  paths.add(path);
                }
              });
    }
  }

  private static Map<String, Object> leaves(final SinkRecord record) {
    final Map<String, Object> leaves = new HashMap<>(RandomSchemas.flat("key", record.key()));
    // HoistField wraps null in a map without schema and content.
    if (record.value() instanceof Struct || record.valueSchema() != null) {
      leaves.putAll(RandomSchemas.flat("value", record.value()));
    }
    // Fields of a null struct cannot be compared.
    leaves.values().removeIf(Objects::isNull);
    return leaves;
  }

  private static Set<String> pathsFrom(
      final Origin origin, final Map<String, Set<Contribution>> predicted) {
    final Set<String> paths = new TreeSet<>();
    predicted.forEach(
        (path, from) -> {
          if (from.stream().anyMatch(c -> c.origin().equals(origin) && !c.masking())) {
            paths.add(path);
          }
        });
    return paths;
  }

  private static Map<String, Set<Contribution>> predicted(final List<SymbolicRecord> branches) {
    final Map<String, Set<Contribution>> predicted = new TreeMap<>();
    for (final SymbolicRecord branch : branches) {
      collect("key", branch.key(), predicted);
      collect("value", branch.value(), predicted);
    }
    return predicted;
  }

  private static void collect(
      final String path,
      final SymbolicValue value,
      final Map<String, Set<Contribution>> predicted) {
    if (value instanceof final StructValue struct) {
      struct.fields().forEach((name, field) -> collect(path + "/" + name, field, predicted));
    } else if (value instanceof final Leaf leaf) {
      predicted.computeIfAbsent(path, key -> new TreeSet<>()).addAll(leaf.contributions());
    }
  }
}
