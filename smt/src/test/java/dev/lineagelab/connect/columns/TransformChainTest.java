// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.model.EdgeKind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.junit.jupiter.api.Test;

class TransformChainTest {
  private static final String OWN = "com.example.Observer";
  private static final Schema SCHEMA =
      SchemaBuilder.struct().field("a", Schema.STRING_SCHEMA).build();

  private static Map<String, String> config(final String... typesAndOptions) {
    final Map<String, String> config = new HashMap<>();
    for (final String option : typesAndOptions) {
      final String[] parts = option.split("=", 2);
      config.put(parts[0], parts[1]);
    }
    return config;
  }

  private static List<SymbolicRecord> run(final Map<String, String> config) {
    final SymbolicRecord start =
        SchemaRefinement.refine(SymbolicRecord.initial("t"), Schema.STRING_SCHEMA, SCHEMA);
    return TransformChain.of(config, Set.of(OWN)).apply(start);
  }

  @Test
  void acceptsSimpleClassNames() {
    final List<SymbolicRecord> branches =
        run(
            config(
                "transforms=r,o",
                "transforms.r.type=ReplaceField$Value",
                "transforms.r.renames=a:b",
                "transforms.o.type=Observer"));
    assertThat(ColumnOrigins.of(branches.get(0).value()).known()).containsOnlyKeys("b");
  }

  private static final String METADATA =
      "org.apache.iceberg.connect.transforms.KafkaMetadataTransform";

  @Test
  void reportsBothResultsOfSharedOptions() {
    final List<SymbolicRecord> branches =
        run(
            config(
                "transforms=flat,hoist,nested",
                "transforms.flat.type=" + METADATA,
                "transforms.hoist.type=HoistField$Value",
                "transforms.hoist.field=row",
                "transforms.nested.type=" + METADATA,
                "transforms.nested.nested=true"));
    assertThat(ColumnOrigins.of(SymbolicRecord.anyOf(branches).value()).known())
        .containsKeys("row._kafka_metadata_topic", "row._kafka_metadata.topic")
        .containsKey("_kafka_metadata.offset")
        .doesNotContainKey("_kafka_metadata_offset");
  }

  @Test
  void discardsBranchesThatContradictTheObservedSchema() {
    final SymbolicRecord record =
        SymbolicRecord.anyOf(
            TransformChain.of(
                    config(
                        "transforms=time,drop",
                        "transforms.time.type=TimestampRouter",
                        "transforms.drop.type=ReplaceField$Value",
                        "transforms.drop.exclude=b",
                        "transforms.drop.predicate=some",
                        "predicates.some.type=TopicNameMatches",
                        "predicates.some.pattern=t.*"),
                    Set.of(OWN))
                .apply(SymbolicRecord.initial("t")));
    final SymbolicValue value = SchemaRefinement.refine(record.value(), Schema.STRING_SCHEMA);
    assertThat(value).isEqualTo(SymbolicValue.Leaf.of("string", Origin.of(Part.VALUE)));
  }

  @Test
  void mergesTransformsWithEqualOptions() {
    final List<SymbolicRecord> branches =
        run(
            config(
                "transforms=one,hoist,other",
                "transforms.one.type=" + METADATA,
                "transforms.hoist.type=HoistField$Value",
                "transforms.hoist.field=row",
                "transforms.other.type=" + METADATA));
    assertThat(branches).hasSize(1);
  }

  private static final Map<String, String> SWAPPED_THEN_RENAMED =
      config(
          "transforms=swap,rename",
          "transforms.swap.type=ReplaceField$Value",
          "transforms.swap.renames=given:family,family:given",
          "transforms.rename.type=ReplaceField$Value",
          "transforms.rename.renames=first:given,last:family");

  private static final Schema NAMES =
      SchemaBuilder.struct()
          .field("given", Schema.STRING_SCHEMA)
          .field("family", Schema.STRING_SCHEMA)
          .build();

  @Test
  void tracesARenameOntoAnExistingName() {
    final SymbolicRecord start =
        SymbolicRecord.initial("t").withSchemaSides(SymbolicRecord.Side.ofSchemas(null, NAMES));
    final List<SymbolicRecord> branches =
        TransformChain.of(SWAPPED_THEN_RENAMED, Set.of(OWN)).apply(start);
    assertThat(branches).hasSize(1);
    final ColumnOrigins columns =
        ColumnOrigins.of(SchemaRefinement.refine(branches.get(0).value(), NAMES));
    assertThat(columns.unknown()).isEmpty();
    assertThat(columns.known().get("given")).containsExactly(identity("first"));
    assertThat(columns.known().get("family")).containsExactly(identity("last"));
  }

  @Test
  void reportsAmbiguousRenamesAsUnknownWithoutSchema() {
    final SymbolicRecord record =
        TransformChain.of(SWAPPED_THEN_RENAMED, Set.of(OWN))
            .apply(SymbolicRecord.initial("t"))
            .get(0);
    final ColumnOrigins columns = ColumnOrigins.of(record.value());
    assertThat(columns.unknown()).containsExactlyInAnyOrder("given", "family");
    assertThat(columns.known()).isEmpty();
  }

  @Test
  void acceptsAStructWithoutFields() {
    final Schema empty = SchemaBuilder.struct().build();
    final SymbolicRecord record =
        run(config(
                "transforms=r", "transforms.r.type=ReplaceField$Value", "transforms.r.exclude=a"))
            .get(0);
    final ColumnOrigins columns = ColumnOrigins.of(SchemaRefinement.refine(record.value(), empty));
    assertThat(columns)
        .isEqualTo(ColumnOrigins.of(SymbolicValue.StructValue.closed(null, Map.of())));
  }

  @Test
  void leavesTombstonesWithoutColumns() {
    final SymbolicRecord tombstone =
        SymbolicRecord.initial("t").withValue(SymbolicValue.ABSENT, true);
    assertThat(SchemaRefinement.refine(tombstone, null, SCHEMA)).isEqualTo(tombstone);
  }

  private static Contribution identity(final String field) {
    return Contribution.identity(Origin.of(Part.VALUE).child(field));
  }

  @Test
  void reportsTheHeaderOfAFilter() {
    final List<SymbolicRecord> branches =
        run(
            config(
                "transforms=f",
                "transforms.f.type=Filter",
                "transforms.f.predicate=p",
                "predicates.p.type=HasHeaderKey",
                "predicates.p.name=h"));
    assertThat(branches).hasSize(1);
    assertThat(branches.get(0).filters())
        .containsExactly(
            new Contribution(Origin.of(Part.HEADERS).child("h"), EdgeKind.FILTER, false));
  }

  @Test
  void dropsRecordsFilteredByTopic() {
    assertThat(
            run(
                config(
                    "transforms=f",
                    "transforms.f.type=Filter",
                    "transforms.f.predicate=p",
                    "predicates.p.type=TopicNameMatches",
                    "predicates.p.pattern=t")))
        .isEmpty();
  }

  @Test
  void namesTheUnsupportedTransform() {
    final SymbolicRecord record =
        run(config("transforms=x", "transforms.x.type=com.example.Odd")).get(0);
    assertThat(record.reasons()).singleElement().asString().contains("'x' (com.example.Odd)");
    assertThat(record.topic()).isInstanceOf(TopicName.Unknown.class);
  }

  @Test
  void doesNotResolveConfigProviderReferences() {
    final SymbolicRecord record =
        run(config(
                "transforms=x",
                "transforms.x.type=RegexRouter",
                "transforms.x.regex=.*",
                "transforms.x.replacement=${env:TOPIC}"))
            .get(0);
    assertThat(record.reasons())
        .singleElement()
        .asString()
        .contains("'replacement' is a reference");
  }

  @Test
  void marksHashesAsMasking() {
    final SymbolicRecord record =
        run(config(
                "transforms=x",
                "transforms.x.type=io.aiven.kafka.connect.transforms.Hash$Value",
                "transforms.x.field.name=a"))
            .get(0);
    assertThat(ColumnOrigins.of(record.value()).known().get("a"))
        .singleElement()
        .matches(Contribution::masking);
  }
}
