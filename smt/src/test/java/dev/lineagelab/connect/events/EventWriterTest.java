// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.JsonSchemaFactory;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SpecVersion.VersionFlag;
import dev.lineagelab.connect.metrics.RecordCounts;
import dev.lineagelab.connect.model.ColumnEdge;
import dev.lineagelab.connect.model.ColumnLineage;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.DatasetPair;
import dev.lineagelab.connect.model.DatasetSchema;
import dev.lineagelab.connect.model.EdgeKind;
import dev.lineagelab.connect.model.Field;
import dev.lineagelab.connect.model.RegisteredSchema;
import dev.lineagelab.connect.model.Symlink;
import dev.lineagelab.connect.runs.ConnectorStatus;
import dev.lineagelab.connect.runs.DueEvent;
import dev.lineagelab.connect.runs.EventType;
import dev.lineagelab.connect.runs.TaskStatus;
import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.settings.WorkerProperties;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class EventWriterTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Folder of the OpenLineage JSON schemas; {@code lab test} sets the variable. */
  private static final String SPEC = System.getenv("LINEAGE_LAB_SPEC");

  private static final Dataset ORDERS = new Dataset("kafka://kafka:9092", "orders");
  private static final Dataset BIDS = new Dataset("kafka://kafka:9092", "bids");
  private static final Dataset ORDERS_TABLE = new Dataset("s3://lake", "raw/orders");
  private static final Dataset BIDS_TABLE = new Dataset("s3://lake", "raw/bids");

  private static final ConnectorStatus FAILED =
      new ConnectorStatus(
          "RUNNING",
          "w:1",
          null,
          new TreeMap<>(
              Map.of(
                  0,
                  new TaskStatus(
                      "FAILED",
                      "w:1",
                      "org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded\n"
                          + "\tat A.a\n"
                          + "Caused by: java.io.IOException: login with hush-hush failed\n"
                          + "\tat B.b\n"))));

  private static final Instant TIME = Instant.parse("2026-11-21T10:00:00Z");

  private static final ConnectorDefinition CONNECTOR =
      new ConnectorDefinition(
          "orders-lake",
          ConnectorType.SINK,
          "com.example.Sink",
          Map.of("db.password", "hush-hush", "connector.class", "com.example.Sink"),
          true);

  private static final PluginSettings SETTINGS = settings("exclude");

  private static PluginSettings settings(final String stackTraces) {
    return PluginSettings.of(
        Map.of(
            "job.namespace", "lab",
            "interval.ms", "30000",
            "transport.type", "none",
            "errors.stack.trace", stackTraces),
        WorkerProperties.UNKNOWN);
  }

  private static ColumnEdge edge(
      final String output,
      final Dataset input,
      final String field,
      final EdgeKind kind,
      final boolean masking) {
    return new ColumnEdge(output, input, field, kind, masking);
  }

  private static ConnectorLineage two() {
    return new ConnectorLineage(
        List.of(ORDERS, BIDS),
        List.of(ORDERS_TABLE, BIDS_TABLE),
        List.of(
            new DatasetPair(
                ORDERS,
                ORDERS_TABLE,
                new ColumnLineage(
                    List.of(
                        edge("id", ORDERS, "id", EdgeKind.IDENTITY, false),
                        edge("name", ORDERS, "customer.name", EdgeKind.TRANSFORMATION, true),
                        edge(null, ORDERS, "id", EdgeKind.FILTER, false)),
                    Set.of("*"),
                    List.of("com.example.Odd is unknown"))),
            new DatasetPair(BIDS, BIDS_TABLE, ColumnLineage.NONE)),
        Map.of(
            ORDERS,
            new DatasetSchema(
                new RegisteredSchema("orders-value", "3", "17"),
                null,
                List.of(
                    Field.of("id", "int64"),
                    new Field("customer", "struct", "who", List.of(Field.of("name", "string")))))),
        Map.of(ORDERS_TABLE, List.of(new Symlink("http://catalog:8181", "raw.orders", "TABLE"))),
        List.of("a note"));
  }

  private static ConnectorLineage one() {
    return new ConnectorLineage(
        List.of(ORDERS),
        List.of(ORDERS_TABLE),
        List.of(new DatasetPair(ORDERS, ORDERS_TABLE, ColumnLineage.NONE)),
        Map.of(),
        Map.of(),
        List.of());
  }

  /** Lineage of a connector that drops one topic and writes one dataset from no input. */
  private static ConnectorLineage onePairOfTwo() {
    return new ConnectorLineage(
        List.of(ORDERS, BIDS),
        List.of(ORDERS_TABLE, BIDS_TABLE),
        one().pairs(),
        Map.of(),
        Map.of(),
        List.of());
  }

  private static String write(
      final EventType type, final ConnectorLineage lineage, final RecordCounts counts) {
    return write(type, lineage, counts, SETTINGS);
  }

  private static String write(
      final EventType type,
      final ConnectorLineage lineage,
      final RecordCounts counts,
      final PluginSettings settings) {
    return EventWriter.write(
        new RunEvent(
            new DueEvent(type, 1, TIME.toEpochMilli(), "it runs", false, false),
            UUID.fromString("01a0c450-6c00-70e6-9c58-d15b5977f24a"),
            new LineageSnapshot(CONNECTOR, FAILED, lineage, settings),
            counts));
  }

  private static JsonNode event(
      final EventType type, final ConnectorLineage lineage, final RecordCounts counts)
      throws Exception {
    return JSON.readTree(write(type, lineage, counts));
  }

  @Test
  void everyEventIsComplete() throws Exception {
    final JsonNode event = event(EventType.ABORT, two(), null);
    assertThat(event.at("/eventTime").asText()).isEqualTo("2026-11-21T10:00:00.000Z");
    assertThat(event.at("/inputs"))
        .extracting(dataset -> dataset.get("name").asText())
        .containsExactly("bids", "orders");
    assertThat(event.at("/outputs"))
        .extracting(dataset -> dataset.get("name").asText())
        .containsExactly("raw/bids", "raw/orders");
    assertThat(event.at("/job/namespace").asText()).isEqualTo("lab");
    assertThat(event.at("/job/facets/jobType/processingType").asText()).isEqualTo("STREAMING");
    assertThat(event.at("/job/facets/jobType/integration").asText()).isEqualTo("KAFKA_CONNECT");
    assertThat(event.at("/job/facets/jobType/emissionPattern/windowDuration").asInt())
        .isEqualTo(30);
  }

  @Test
  void emptyLineageHasEmptyInputsAndOutputs() throws Exception {
    final JsonNode event = event(EventType.START, ConnectorLineage.EMPTY, null);
    assertThat(event.at("/inputs").isArray() && event.at("/outputs").isArray()).isTrue();
    assertThat(event.at("/job/facets").has("lineage")).isFalse();
  }

  @Test
  void lineageFacetKeepsPairsApart() throws Exception {
    final JsonNode entries =
        event(EventType.RUNNING, two(), null).at("/job/facets/lineage/entries");
    assertThat(entries).hasSize(2);
    assertThat(entries.at("/0/name").asText()).isEqualTo("raw/bids");
    assertThat(entries.at("/0/inputs").findValuesAsText("name")).containsExactly("bids");
    assertThat(entries.at("/1/inputs").findValuesAsText("name")).containsOnly("orders");
    assertThat(entries.at("/1/fields/id/inputs/0/transformations/0/subtype").asText())
        .isEqualTo("IDENTITY");
    assertThat(event(EventType.RUNNING, one(), null).at("/job/facets/lineage/entries")).hasSize(1);
  }

  @Test
  void lineageFacetNamesTheOnlyPairOfSeveralDatasets() throws Exception {
    final JsonNode entries =
        event(EventType.RUNNING, onePairOfTwo(), null).at("/job/facets/lineage/entries");
    assertThat(entries.at("/0/name").asText()).isEqualTo("raw/bids");
    assertThat(entries.at("/0/inputs")).isEmpty();
    assertThat(entries.at("/1/name").asText()).isEqualTo("raw/orders");
    assertThat(entries.at("/1/inputs").findValuesAsText("name")).containsExactly("orders");
  }

  @Test
  void columnLineageHasOriginsAndUnknownFields() throws Exception {
    final JsonNode table = event(EventType.RUNNING, two(), null).at("/outputs/1");
    assertThat(table.at("/name").asText()).isEqualTo("raw/orders");
    final JsonNode columns = table.at("/facets/columnLineage");
    assertThat(columns.at("/fields/id/transformationType").asText()).isEqualTo("IDENTITY");
    assertThat(columns.at("/fields/name/inputFields/0/field").asText()).isEqualTo("customer.name");
    assertThat(columns.at("/fields/name/inputFields/0/transformations/0/masking").asBoolean())
        .isTrue();
    assertThat(columns.at("/fields/name/transformationType").asText()).isEqualTo("MASKED");
    assertThat(columns.at("/dataset/0/transformations/0/type").asText()).isEqualTo("INDIRECT");
    assertThat(columns.at("/unknownFields/0").asText()).isEqualTo("*");
    assertThat(columns.at("/unknownBecause/0").asText()).contains("com.example.Odd");
  }

  @Test
  void datasetsHaveSchemaVersionAndSymlinks() throws Exception {
    final JsonNode event = event(EventType.RUNNING, two(), null);
    final JsonNode facets = event.at("/inputs/1/facets");
    assertThat(facets.at("/schema/fields/1/fields/0/name").asText()).isEqualTo("name");
    assertThat(facets.at("/version/datasetVersion").asText()).isEqualTo("3");
    assertThat(event.at("/outputs/1/facets/symlinks/identifiers/0/type").asText())
        .isEqualTo("TABLE");
  }

  /** Connect counts a sink's records when they are passed to its task, which may still fail. */
  @Test
  void recordsPassedToASinkAreNotCountedAsWritten() throws Exception {
    final JsonNode event = event(EventType.RUNNING, one(), new RecordCounts(21, 16, 1, 2));
    assertThat(event.at("/outputs/0").has("outputFacets")).isFalse();
    final JsonNode records = event.at("/run/facets/lineagelab_connect/records");
    assertThat(records.has("written")).isFalse();
    assertThat(records.at("/passed").asLong()).isEqualTo(16);
  }

  @Test
  void recordsThatKafkaHasAcknowledgedAreCountedAsWritten() throws Exception {
    final ConnectorDefinition source =
        new ConnectorDefinition("orders", ConnectorType.SOURCE, "Source", Map.of(), true);
    final JsonNode event =
        JSON.readTree(
            EventWriter.write(
                new RunEvent(
                    new DueEvent(EventType.RUNNING, 1, 2, "it runs", false, false),
                    UUID.fromString("01a0c450-6c00-70e6-9c58-d15b5977f24a"),
                    new LineageSnapshot(source, FAILED, one(), SETTINGS),
                    new RecordCounts(21, 16, 1, 2))));
    assertThat(event.at("/outputs/0/outputFacets/outputStatistics/rowCount").asLong())
        .isEqualTo(16);
    assertThat(event.at("/run/facets/lineagelab_connect/records/written").asLong()).isEqualTo(16);
  }

  @Test
  void statisticsAreGivenForASingleDatasetOnly() throws Exception {
    final RecordCounts counts = new RecordCounts(21, 16, 1, 2);
    final JsonNode event = event(EventType.RUNNING, one(), counts);
    assertThat(event.at("/inputs/0/inputFacets/inputStatistics/rowCount").asLong()).isEqualTo(21);
    assertThat(event(EventType.RUNNING, two(), counts).at("/inputs/0").has("inputFacets"))
        .isFalse();
    assertThat(
            event(EventType.RUNNING, two(), counts)
                .at("/run/facets/lineagelab_connect/records/skipped")
                .asLong())
        .isEqualTo(2);
  }

  @Test
  void failuresHaveClassAndMessageByDefault() throws Exception {
    final JsonNode event = event(EventType.FAIL, one(), RecordCounts.NONE);
    assertThat(event.at("/run/facets/errorMessage/message").asText())
        .isEqualTo(
            "org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded"
                + " Caused by: java.io.IOException: login with **** failed");
    assertThat(event.at("/run/facets/errorMessage").has("stackTrace")).isFalse();
    assertThat(event.toString()).doesNotContain("at A.a", "at B.b");
  }

  @Test
  void failuresHaveTheirTraceWithoutSecrets() throws Exception {
    final JsonNode event =
        JSON.readTree(write(EventType.FAIL, one(), RecordCounts.NONE, settings("include")));
    final JsonNode error = event.at("/run/facets/errorMessage");
    assertThat(error.at("/message").asText())
        .contains("Tolerance exceeded", "Caused by: java.io.IOException: login with **** failed");
    assertThat(error.at("/stackTrace").asText()).contains("at B.b");
    assertThat(event.toString()).doesNotContain("hush-hush");
    assertThat(event.at("/run/facets/lineagelab_connect/tasks/0/state").asText())
        .isEqualTo("FAILED");
    assertThat(event.at("/run/facets/lineagelab_connect/class").asText())
        .isEqualTo("com.example.Sink");
  }

  @Test
  void aFailedTaskHasTheCauseOfItsError() throws Exception {
    final JsonNode event = event(EventType.RUNNING, one(), RecordCounts.NONE);
    assertThat(event.at("/run/facets/lineagelab_connect/tasks/0/message").asText())
        .contains("Tolerance exceeded", "Caused by: java.io.IOException: login with **** failed");
    assertThat(event.at("/run/facets").has("errorMessage")).isFalse();
  }

  @Test
  void equalEventsHaveEqualText() {
    final ConnectorLineage sorted = two();
    final ConnectorLineage reversed =
        new ConnectorLineage(
            List.of(ORDERS, BIDS, ORDERS),
            List.of(ORDERS_TABLE, BIDS_TABLE, ORDERS_TABLE),
            sorted.pairs(),
            sorted.schemas(),
            sorted.symlinks(),
            sorted.notes());
    assertThat(sorted.inputs()).containsExactly(BIDS, ORDERS);
    assertThat(write(EventType.RUNNING, reversed, RecordCounts.NONE))
        .isEqualTo(write(EventType.RUNNING, sorted, RecordCounts.NONE));
  }

  @ParameterizedTest
  @EnumSource(EventType.class)
  void conformsToThePublishedSchemas(final EventType type) throws Exception {
    assumeTrue(SPEC != null, "LINEAGE_LAB_SPEC is not set");
    for (final ConnectorLineage lineage :
        List.of(ConnectorLineage.EMPTY, one(), onePairOfTwo(), two())) {
      final JsonNode event = event(type, lineage, new RecordCounts(1, 2, 3, 4));
      assertThat(problems(event, event.get("schemaURL").asText())).isEmpty();
      for (final JsonNode facet : facets(event)) {
        assertThat(problems(facet, facet.get("_schemaURL").asText()))
            .as(facet.toString())
            .isEmpty();
      }
    }
  }

  private static List<JsonNode> facets(final JsonNode event) {
    final List<JsonNode> found = new ArrayList<>();
    event.findParents("_schemaURL").forEach(found::add);
    assertThat(found).isNotEmpty();
    return found;
  }

  private static boolean isSchema(final Path file) {
    return file.getFileName().toString().matches("\\w+\\.json");
  }

  private static Set<?> problems(final JsonNode json, final String schema) throws Exception {
    final Map<String, String> files = new TreeMap<>();
    try (Stream<Path> paths = Files.list(Path.of(SPEC))) {
      for (final Path path : paths.filter(EventWriterTest::isSchema).toList()) {
        final String text = Files.readString(path);
        files.put(JSON.readTree(text).get("$id").asText(), text);
      }
    }
    assertThat(files).containsKey(schema.split("#")[0]);
    return JsonSchemaFactory.getInstance(
            VersionFlag.V202012,
            builder -> builder.schemaLoaders(loaders -> loaders.schemas(files)))
        .getSchema(SchemaLocation.of(schema))
        .validate(json);
  }
}
