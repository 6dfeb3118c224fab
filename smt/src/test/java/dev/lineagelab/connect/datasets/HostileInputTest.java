// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.columns.RecursiveSchema;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.DatasetPair;
import dev.lineagelab.connect.model.ObservedTopic;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.junit.jupiter.api.Test;

/** Extraction is total: any configuration and any observed schema yield lineage. */
class HostileInputTest {
  private static final ConnectorLineageExtractor EXTRACTOR = new ConnectorLineageExtractor();
  private static final String KAFKA = "org.apache.kafka.connect.transforms.";
  private static final List<String> CLASSES =
      List.of(
          "io.debezium.connector.postgresql.PostgresConnector",
          "org.apache.iceberg.connect.IcebergSinkConnector",
          "dev.lineagelab.archive.S3ArchiveSinkConnector",
          "org.apache.kafka.connect.file.FileStreamSinkConnector",
          "org.apache.kafka.connect.mirror.MirrorSourceConnector",
          "io.confluent.connect.jdbc.JdbcSinkConnector",
          "io.confluent.connect.s3.S3SinkConnector",
          "com.mongodb.kafka.connect.MongoSinkConnector",
          "com.example.Odd");

  private static ConnectorLineage extract(
      final ConnectorType type, final Map<String, String> config, final List<ObservedTopic> seen) {
    final ConnectorDefinition definition =
        new ConnectorDefinition("c", type, config.get("connector.class"), config, true);
    return EXTRACTOR.extract(definition, seen, ConnectorExample.NAMESPACES);
  }

  @Test
  void emptyConfigurationHasNoLineage() {
    for (final ConnectorType type : ConnectorType.values()) {
      final ConnectorLineage lineage = extract(type, Map.of(), List.of());
      assertThat(lineage.inputs()).isEmpty();
      assertThat(lineage.outputs()).isEmpty();
    }
  }

  @Test
  void everyClassHasItsTopicsWithoutOptions() {
    for (final String name : CLASSES) {
      final Map<String, String> config = Map.of("connector.class", name, "topics", "t");
      assertThat(extract(ConnectorType.SINK, config, List.of()).inputs())
          .as(name)
          .containsExactly(new Dataset("kafka://kafka:9092", "t"));
      final ObservedTopic seen = new ObservedTopic("t", null, null, null);
      assertThat(extract(ConnectorType.SOURCE, config, List.of(seen)).outputs())
          .as(name)
          .containsExactly(new Dataset("kafka://kafka:9092", "t"));
    }
  }

  /**
   * Random values for all options: whatever they are, the lineage is consistent, deterministic,
   * free of references, and its notes explain missing outputs.
   */
  @Test
  void extractsConsistentLineageFromArbitraryValues() {
    final List<String> values =
        List.of(
            "", " ", ",", "((((", "${a:b}", "->", "a->b|c", "$9", "\u0000", "[", "://", "-1", "{");
    final List<String> names =
        List.of(
            "topics",
            "topics.regex",
            "transforms",
            "transforms.t.type",
            "transforms.t.regex",
            "transforms.t.replacement",
            "transforms.t.predicate",
            "predicates",
            "predicates.p.type",
            "predicates.p.pattern",
            "topic.prefix",
            "database.hostname",
            "database.dbname",
            "table.include.list",
            "iceberg.tables",
            "iceberg.tables.route-field",
            "iceberg.table.a.route-regex",
            "iceberg.catalog.warehouse",
            "iceberg.catalog.uri",
            "iceberg.catalog.type",
            "s3.bucket.name",
            "topics.dir",
            "file",
            "topic",
            "connection.url",
            "connection.uri",
            "table.name.format",
            "source.cluster.alias",
            "source.cluster.bootstrap.servers",
            "consumer.override.bootstrap.servers",
            "column.mask.with.1.chars",
            "transforms.t.spec",
            "transforms.t.field");
    final List<String> transforms =
        List.of("RegexRouter", "Cast$Value", "ExtractField$Key", "Flatten$Value");
    final Random random = new Random(1);
    for (int i = 0; i < 3000; i++) {
      final Map<String, String> config = new HashMap<>();
      names.stream()
          .filter(name -> random.nextInt(3) > 0)
          .forEach(name -> config.put(name, values.get(random.nextInt(values.size()))));
      config.put("connector.class", CLASSES.get(random.nextInt(CLASSES.size())));
      if (random.nextBoolean()) {
        config.put("transforms", "t");
        config.put("transforms.t.type", KAFKA + transforms.get(random.nextInt(transforms.size())));
      }
      final ConnectorType type = ConnectorType.values()[random.nextInt(2)];
      final ObservedTopic seen = new ObservedTopic("t", null, Schema.STRING_SCHEMA, null);
      assertConsistent(type, config, List.of(seen));
    }
  }

  private static void assertConsistent(
      final ConnectorType type, final Map<String, String> config, final List<ObservedTopic> seen) {
    final ConnectorLineage lineage = extract(type, config, seen);
    assertThat(extract(type, config, seen))
        .as("second extraction of %s", config)
        .isEqualTo(lineage);
    final List<Dataset> datasets = new ArrayList<>(lineage.inputs());
    datasets.addAll(lineage.outputs());
    assertThat(datasets)
        .as("names from %s", config)
        .allSatisfy(
            dataset ->
                assertThat(dataset.namespace() + dataset.name()).isNotEmpty().doesNotContain("${"));
    assertThat(lineage.schemas().keySet()).as("schemas of %s", config).isSubsetOf(datasets);
    for (final DatasetPair pair : lineage.pairs()) {
      assertThat(lineage.inputs()).contains(pair.input());
      assertThat(lineage.outputs()).contains(pair.output());
      assertThat(pair.columns().edges()).allMatch(edge -> edge.input().equals(pair.input()));
    }
    final String connectorClass = config.get("connector.class");
    // Iceberg's routing may select no table.
    final boolean writesEveryRecord =
        type == ConnectorType.SINK
            && connectorClass.contains("Sink")
            && !connectorClass.contains("iceberg");
    if (writesEveryRecord && !lineage.inputs().isEmpty() && lineage.pairs().isEmpty()) {
      assertThat(lineage.notes()).as("reason for the missing outputs of %s", config).isNotEmpty();
    }
  }

  @Test
  void abandonsCatastrophicRegularExpressions() {
    final Map<String, String> config = new HashMap<>();
    config.put("connector.class", "com.example.OddSink");
    config.put("topics", "a".repeat(40) + "b");
    config.put("transforms", "bomb");
    config.put("transforms.bomb.type", KAFKA + "RegexRouter");
    config.put("transforms.bomb.regex", "(a+)+\\1");
    config.put("transforms.bomb.replacement", "x");
    final ConnectorLineage lineage = extract(ConnectorType.SINK, config, List.of());
    assertThat(lineage.inputs()).hasSize(1);
    assertThat(lineage.notes()).anyMatch(note -> note.contains("exceeds the evaluation limit"));
  }

  /** In every option that holds an expression. */
  @Test
  void abandonsCatastrophicRegularExpressionsInEveryOption() {
    final String bomb = "(a+)+\\1";
    final String topic = "a".repeat(40) + "b";
    final ObservedTopic seen =
        new ObservedTopic(
            topic,
            null,
            SchemaBuilder.struct().name("p.s.t.Value").field(topic, Schema.STRING_SCHEMA).build(),
            null);
    final Map<String, String> sink = new HashMap<>();
    sink.put("connector.class", "org.apache.iceberg.connect.IcebergSinkConnector");
    sink.put("topics.regex", bomb);
    sink.put("iceberg.tables", "a.b");
    sink.put("iceberg.tables.route-field", "t");
    sink.put("iceberg.table.a.b.route-regex", bomb);
    sink.put("iceberg.catalog.warehouse", "s3://w");
    sink.put("transforms", "t");
    sink.put("transforms.t.type", KAFKA + "InsertField$Value");
    sink.put("transforms.t.topic.field", "t");
    assertThat(extract(ConnectorType.SINK, sink, List.of(seen)).notes()).hasSize(2);
    final Map<String, String> source = new HashMap<>();
    source.put("connector.class", "io.debezium.connector.postgresql.PostgresConnector");
    source.put("database.hostname", "db");
    source.put("database.dbname", "d");
    source.put("topic.prefix", "p");
    source.put("column.mask.with.3.chars", "s\\.t\\." + bomb);
    source.put("transforms", "row,time");
    source.put("transforms.row.type", "io.debezium.transforms.ExtractNewRecordState");
    source.put("transforms.time.type", KAFKA + "TimestampRouter");
    source.put("transforms.time.topic.format", "${timestamp}a".repeat(30));
    assertThat(extract(ConnectorType.SOURCE, source, List.of(seen)).outputs()).hasSize(1);
  }

  @Test
  void acceptsDeeplyNestedGroups() {
    final Map<String, String> config = new HashMap<>();
    config.put("connector.class", "com.example.OddSink");
    config.put("topics", "t");
    config.put("topics.regex", "(".repeat(20_000) + ")".repeat(20_000));
    assertThat(extract(ConnectorType.SINK, config, List.of()).inputs()).hasSize(1);
  }

  @Test
  void keepsAThousandTopicsSeparate() {
    final List<String> names = IntStream.range(0, 1000).mapToObj(i -> "t" + i).toList();
    final Map<String, String> config = new HashMap<>();
    config.put("connector.class", "dev.lineagelab.archive.S3ArchiveSinkConnector");
    config.put("topics", String.join(",", names));
    config.put("s3.bucket.name", "b");
    final Schema schema = SchemaBuilder.struct().field("x", Schema.STRING_SCHEMA).build();
    final List<ObservedTopic> seen =
        new ArrayList<>(names.stream().map(n -> new ObservedTopic(n, null, schema, null)).toList());
    final ConnectorLineage lineage = extract(ConnectorType.SINK, config, seen);
    assertThat(lineage.pairs())
        .hasSize(1000)
        .allMatch(pair -> pair.output().name().equals("topics/" + pair.input().name()));
    Collections.reverse(seen);
    assertThat(extract(ConnectorType.SINK, config, seen)).isEqualTo(lineage);
  }

  @Test
  void extractsAThousandColumns() {
    final SchemaBuilder schema = SchemaBuilder.struct();
    IntStream.range(0, 1000).forEach(i -> schema.field("c" + i, Schema.STRING_SCHEMA));
    final Map<String, String> config = new HashMap<>();
    config.put("connector.class", "dev.lineagelab.archive.S3ArchiveSinkConnector");
    config.put("topics", "t");
    config.put("s3.bucket.name", "b");
    final ObservedTopic seen = new ObservedTopic("t", null, schema.build(), null);
    assertThat(extract(ConnectorType.SINK, config, List.of(seen)).pairs().get(0).columns().edges())
        .hasSize(1000);
  }

  @Test
  void extractsRecursiveSchemas() {
    final Map<String, String> config = new HashMap<>();
    config.put("connector.class", "dev.lineagelab.archive.S3ArchiveSinkConnector");
    config.put("topics", "t");
    config.put("s3.bucket.name", "b");
    config.put("transforms", "flat");
    config.put("transforms.flat.type", KAFKA + "Flatten$Value");
    final ObservedTopic seen = new ObservedTopic("t", null, RecursiveSchema.node(), null);
    final ConnectorLineage lineage = extract(ConnectorType.SINK, config, List.of(seen));
    assertThat(lineage.pairs().get(0).columns().edges())
        .extracting(edge -> edge.outputField())
        .containsExactly("children", "next", "value");
  }

  @Test
  void extractsAThousandTables() {
    final List<String> names = IntStream.range(0, 1000).mapToObj(i -> "public.t" + i).toList();
    final Map<String, String> config = new HashMap<>();
    config.put("connector.class", "io.debezium.connector.postgresql.PostgresConnector");
    config.put("database.hostname", "db");
    config.put("database.dbname", "shop");
    config.put("topic.prefix", "p");
    config.put("table.include.list", String.join(",", names));
    final Schema schema = SchemaBuilder.struct().field("x", Schema.STRING_SCHEMA).build();
    final List<ObservedTopic> seen =
        names.stream().map(n -> new ObservedTopic("p." + n, null, schema, null)).toList();
    assertThat(extract(ConnectorType.SOURCE, config, seen).pairs())
        .hasSize(1000)
        .allMatch(
            pair -> pair.input().name().substring(5).equals(pair.output().name().substring(2)));
  }

  @Test
  void limitsTheBranchesOfManyPredicates() {
    final Map<String, String> config = new HashMap<>();
    config.put("connector.class", "dev.lineagelab.archive.S3ArchiveSinkConnector");
    config.put("topics", "t");
    config.put("s3.bucket.name", "b");
    final List<String> aliases = new ArrayList<>(List.of("lineage"));
    config.put("transforms.lineage.type", ConnectorLineageExtractor.OWN_TRANSFORM);
    for (int i = 0; i < 40; i++) {
      aliases.add("t" + i);
      config.put("transforms.t" + i + ".type", KAFKA + "ReplaceField$Value");
      config.put("transforms.t" + i + ".renames", "c" + i + ":c" + (i + 1));
      config.put("transforms.t" + i + ".predicate", "p" + i);
      config.put("predicates.p" + i + ".type", KAFKA + "predicates.HasHeaderKey");
      config.put("predicates.p" + i + ".name", "h" + i);
    }
    config.put("transforms", String.join(",", aliases));
    final Schema schema = SchemaBuilder.struct().field("c0", Schema.STRING_SCHEMA).build();
    final ConnectorLineage lineage =
        extract(ConnectorType.SINK, config, List.of(new ObservedTopic("t", null, schema, null)));
    assertThat(lineage.pairs().get(0).columns().edges())
        .extracting(edge -> edge.outputField())
        .contains("c0", "c1", "c40");
  }

  @Test
  void omitsSecrets() {
    final Map<String, String> config = new HashMap<>();
    config.put("connector.class", "io.confluent.connect.jdbc.JdbcSinkConnector");
    config.put("topics", "t");
    for (final String url :
        List.of(
            "jdbc:postgresql://u:sesame@db/shop",
            "jdbc:oracle:thin:u/sesame@db:1521:shop",
            "jdbc:mysql://db/shop?password=sesame",
            "jdbc:odd://u:sesame@db")) {
      config.put("connection.url", url);
      assertThat(extract(ConnectorType.SINK, config, List.of()).toString())
          .as(url)
          .doesNotContain("sesame");
    }
  }
}
