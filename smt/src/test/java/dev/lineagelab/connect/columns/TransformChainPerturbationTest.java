// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.columns.SymbolicRecord.Side;
import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.SymbolicValue.Unknown;
import dev.lineagelab.connect.model.EdgeKind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.sink.SinkRecord;
import org.junit.jupiter.api.Test;

/**
 * Perturbation test of the transform chain: runs random chains of the real transforms, changes one
 * part of the input at a time, and compares the changed parts of the output with the origins that
 * the symbolic evaluation predicts.
 */
class TransformChainPerturbationTest {
  private static final int CHAINS = Integer.getInteger("chains", 2_000);

  /**
   * Accepted reasons for an unknown column if the schema was observed at the end of the chain only.
   */
  private static final Pattern UNKNOWN_BY_FLATTENING =
      Pattern.compile("Fields were flattened .*|Too many transforms depend .*");

  /** Accepted reasons for an unknown column if the entire input is known. */
  private static final Pattern UNKNOWN_BY_ROUTING =
      Pattern.compile("A router decides on a topic that has the record's time in it\\.");

  /**
   * Symbolic records at the place where the schema was observed.
   *
   * @param isDecided true if the transforms before did not depend on the record
   */
  private record Seen(List<SymbolicRecord> branches, boolean isDecided) {}

  @Test
  void predictsTheOriginsOfEachColumn() {
    int run = 0;
    for (int seed = 0; seed < CHAINS; seed++) {
      final Random random = new Random(seed);
      final PerturbableRecord input = input(random);
      final Map<String, String> config =
          new RandomChainConfig(random, false).addRandomTransforms(1 + random.nextInt(5)).config();
      run += check("seed " + seed + " " + config, input, config);
    }
    assertThat(run).as("chains that pass their record").isGreaterThan(CHAINS / 4);
  }

  @Test
  void predictsTheOriginsWithPredicates() {
    int run = 0;
    for (int seed = 0; seed < CHAINS; seed++) {
      final Random random = new Random(seed);
      final PerturbableRecord input = input(random);
      final Map<String, String> config =
          new RandomChainConfig(random, true).addRandomTransforms(1 + random.nextInt(5)).config();
      run += check("seed " + seed + " " + config, input, config);
    }
    assertThat(run).as("chains that pass their record").isGreaterThan(CHAINS / 4);
  }

  private static PerturbableRecord input(final Random random) {
    final RandomSchemas samples = new RandomSchemas(random);
    return new PerturbableRecord(samples.schema(), samples.schema(), random.nextInt(20) == 0);
  }

  private static int check(
      final String what, final PerturbableRecord input, final Map<String, String> config) {
    final KafkaTransformChain real = new KafkaTransformChain(config);
    final Optional<SinkRecord> output = real.apply(input.record(null));
    if (output.isEmpty()) {
      return 0;
    }
    final List<SymbolicRecord> branches =
        TransformChain.of(config, Set.of()).apply(input.symbolic());
    assertThat(branches).as(what).isNotEmpty();
    if (branches.size() > 1) {
      checkAnyOf(what, input, real, output.get(), branches);
      return 1;
    }
    final SymbolicRecord state = branches.get(0);
    assertThat(state.topic())
        .as(what)
        .matches(
            topic -> topic instanceof TopicName.Unknown || topic.canEqual(output.get().topic()));
    if (!input.isTombstone()) {
      checkSchema(what, state.key(), output.get().keySchema(), output.get().key());
      checkSchema(what, state.value(), output.get().valueSchema(), output.get().value());
    }
    checkOrigins(what, input, real, output.get(), state);
    for (int place = 0; place <= RandomChainConfig.aliases(config).size(); place++) {
      checkSeenAt(place, what, input, config, output.get(), state);
    }
    return 1;
  }

  private static void checkSchema(
      final String what, final SymbolicValue symbolic, final Schema schema, final Object value) {
    if (value == null || schema == null) {
      return;
    }
    if (schema.type() == Schema.Type.STRUCT) {
      assertThat(SchemaFields.of(symbolic)).as(what).contains(ConnectSchemaReader.fields(schema));
    } else {
      assertThat(symbolic).as(what).isInstanceOf(Leaf.class);
      assertThat(((Leaf) symbolic).type())
          .as(what)
          .isEqualTo(ConnectSchemaReader.field("", schema).type());
    }
  }

  /** Check that the branches of an undecided predicate cover every change. */
  private static void checkAnyOf(
      final String what,
      final PerturbableRecord input,
      final KafkaTransformChain real,
      final SinkRecord output,
      final List<SymbolicRecord> branches) {
    final Map<String, Object> before = leaves(output);
    for (final Origin origin : input.origins()) {
      final Set<String> predicted = new TreeSet<>();
      branches.forEach(branch -> predicted.addAll(pathsFrom(origin, predicted(branch))));
      real.apply(input.record(origin))
          .ifPresent(
              changed ->
                  assertThat(predicted)
                      .as("%s: columns that change with %s", what, origin)
                      .containsAll(changes(before, leaves(changed))));
    }
  }

  private static Set<String> changes(
      final Map<String, Object> before, final Map<String, Object> after) {
    final Set<String> changed = new TreeSet<>();
    after.forEach(
        (path, value) -> {
          if (!Objects.equals(value, before.get(path))) {
            changed.add(path);
          }
        });
    return changed;
  }

  private static void checkOrigins(
      final String what,
      final PerturbableRecord input,
      final KafkaTransformChain real,
      final SinkRecord output,
      final SymbolicRecord state) {
    final Map<String, Object> before = leaves(output);
    final Map<String, SymbolicValue> predicted = predicted(state);
    final Set<String> unknown = unknown(what, predicted);
    predicted.keySet().removeAll(unknown);
    for (final Origin origin : input.origins()) {
      final Optional<SinkRecord> changed = real.apply(input.record(origin));
      if (changed.isEmpty()) {
        continue;
      }
      final Set<String> changes = changes(before, leaves(changed.get()));
      changes.removeAll(unknown);
      assertThat(changes)
          .as("%s: columns that change with %s", what, origin)
          .isEqualTo(pathsFrom(origin, predicted));
    }
    predicted.forEach(
        (path, value) -> checkIdentity(what + ": " + path, input, before.get(path), value));
  }

  private static Set<String> unknown(
      final String what, final Map<String, SymbolicValue> predicted) {
    final Set<String> unknown = new TreeSet<>();
    predicted.forEach(
        (path, value) -> {
          if (value instanceof final Unknown found) {
            assertThat(found.reason()).as("%s: %s", what, path).matches(UNKNOWN_BY_ROUTING);
            unknown.add(path);
          }
        });
    return unknown;
  }

  /** Check that a value predicted to be an unchanged copy equals its origin. */
  private static void checkIdentity(
      final String what,
      final PerturbableRecord input,
      final Object value,
      final SymbolicValue symbolic) {
    for (final Contribution contribution : ((Leaf) symbolic).contributions()) {
      final Origin origin = contribution.origin();
      if (contribution.kind() != EdgeKind.IDENTITY
          || origin.part() != Part.VALUE && origin.part() != Part.KEY) {
        continue;
      }
      final SinkRecord record = input.record(null);
      final Object whole = origin.part() == Part.KEY ? record.key() : record.value();
      final String path = String.join("/", origin.path());
      assertThat(value)
          .as(what)
          .isEqualTo(RandomSchemas.flat("", whole).get(path.isEmpty() ? "" : "/" + path));
    }
  }

  /** Return the paths predicted to come from an origin; includes untraced paths. */
  private static Set<String> pathsFrom(
      final Origin origin, final Map<String, SymbolicValue> predicted) {
    final Set<String> paths = new TreeSet<>();
    predicted.forEach(
        (path, value) -> {
          final boolean isFrom =
              !(value instanceof final Leaf leaf)
                  || leaf.contributions().stream()
                      .anyMatch(c -> c.origin().equals(origin) && !c.masking());
          if (isFrom) {
            paths.add(path);
          }
        });
    return paths;
  }

  /**
   * Check the prediction from a schema that was observed at one place only: it may contain more
   * unknown columns, but never other origins.
   */
  private static void checkSeenAt(
      final int place,
      final String what,
      final PerturbableRecord input,
      final Map<String, String> config,
      final SinkRecord output,
      final SymbolicRecord state) {
    if (input.isTombstone() || output.value() == null) {
      return;
    }
    final Seen seen = seenAt(place, input, config);
    assertThat(seen.branches).as(what).isNotEmpty();
    final SymbolicRecord refined =
        SchemaRefinement.refine(
            SymbolicRecord.anyOf(seen.branches), output.keySchema(), output.valueSchema());
    final Map<String, SymbolicValue> expected = predicted(state);
    predicted(refined)
        .forEach(
            (path, value) -> {
              final String which = what + ", seen at " + place + ": " + path;
              if (value instanceof final Unknown unknown) {
                if (!(expected.get(path) instanceof Unknown)) {
                  assertThat(unknown.reason()).as(which).matches(UNKNOWN_BY_FLATTENING);
                }
              } else {
                final Set<Origin> found = origins(value);
                assertThat(found).as(which).containsAll(origins(expected.get(path)));
                if (seen.isDecided) {
                  assertThat(found).as(which).isEqualTo(origins(expected.get(path)));
                }
              }
            });
  }

  private static Seen seenAt(
      final int place, final PerturbableRecord input, final Map<String, String> config) {
    final List<String> aliases = RandomChainConfig.aliases(config);
    final Map<String, String> before = part(config, aliases.subList(0, place));
    final Map<String, String> after = part(config, aliases.subList(place, aliases.size()));
    final SinkRecord seen = new KafkaTransformChain(before).apply(input.record(null)).orElseThrow();
    final SymbolicRecord start =
        SymbolicRecord.initial("t1")
            .withHeader("h1", true)
            .withHeader("h2", true)
            .withHeader("h3", false)
            .withSchemaSides(Side.ofSchemas(seen.keySchema(), seen.valueSchema()));
    final List<SymbolicRecord> there =
        TransformChain.of(before, Set.of()).apply(start.withValue(start.value(), false));
    final List<SymbolicRecord> branches =
        TransformChain.byTopic(there).stream()
            .map(branch -> SchemaRefinement.refine(branch, seen.keySchema(), seen.valueSchema()))
            .flatMap(branch -> TransformChain.of(after, Set.of()).apply(branch).stream())
            .toList();
    return new Seen(branches, there.size() == 1 && branches.size() == 1);
  }

  private static Map<String, String> part(
      final Map<String, String> config, final List<String> aliases) {
    final Map<String, String> part = new HashMap<>(config);
    part.put("transforms", String.join(",", aliases));
    return part;
  }

  private static Set<Origin> origins(final SymbolicValue value) {
    final Set<Origin> origins = new TreeSet<>();
    ((Leaf) value).contributions().forEach(contribution -> origins.add(contribution.origin()));
    return origins;
  }

  private static Map<String, Object> leaves(final SinkRecord record) {
    final Map<String, Object> leaves = new HashMap<>(RandomSchemas.flat("key", record.key()));
    leaves.putAll(RandomSchemas.flat("value", record.value()));
    return leaves;
  }

  private static Map<String, SymbolicValue> predicted(final SymbolicRecord state) {
    final Map<String, SymbolicValue> predicted = new TreeMap<>();
    collect("key", state.key(), predicted);
    collect("value", state.value(), predicted);
    return predicted;
  }

  private static void collect(
      final String path, final SymbolicValue value, final Map<String, SymbolicValue> predicted) {
    if (value instanceof final StructValue struct) {
      struct.fields().forEach((name, field) -> collect(path + "/" + name, field, predicted));
    } else if (!(value instanceof SymbolicValue.Absent)) {
      predicted.put(path, value);
    }
  }
}
