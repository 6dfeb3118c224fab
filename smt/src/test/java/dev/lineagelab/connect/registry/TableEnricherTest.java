// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.model.ColumnEdge;
import dev.lineagelab.connect.model.ColumnLineage;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.DatasetPair;
import dev.lineagelab.connect.model.EdgeKind;
import dev.lineagelab.connect.registry.LoopbackRegistry.Request;
import dev.lineagelab.connect.registry.LoopbackRegistry.ResponseMode;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The unhappy paths; {@code tests/connect/test_stores.py} asks a real catalog. */
@Timeout(60)
class TableEnricherTest {
  private static final Dataset TOPIC = new Dataset("kafka://kafka:9092", "orders");
  private static final Dataset TABLE = new Dataset("s3://warehouse", "a/b/orders");
  private static final String PATH = "/v1/lake/namespaces/a%1Fb/tables/orders";
  private static final ConnectorLineage EXTRACTED =
      new ConnectorLineage(
          List.of(TOPIC),
          List.of(TABLE),
          List.of(
              new DatasetPair(
                  TOPIC,
                  TABLE,
                  new ColumnLineage(
                      Stream.of("id", "gone", null)
                          .map(name -> new ColumnEdge(name, TOPIC, "id", EdgeKind.IDENTITY, false))
                          .toList(),
                      Set.of("*", "lost"),
                      List.of("a reason")))),
          Map.of(),
          Map.of(),
          List.of(),
          Map.of(TABLE, "a.b.orders"));

  private LoopbackRegistry catalog;
  private TableEnricher enricher;

  @BeforeEach
  void start() throws IOException {
    catalog = new LoopbackRegistry();
    catalog.answers.put("/v1/config", "{\"overrides\": {\"prefix\": \"lake\"}, \"defaults\": {}}");
    enricher = new TableEnricher(10_000, Duration.ofMillis(20));
  }

  @AfterEach
  void stop() {
    enricher.close();
    catalog.close();
  }

  private void table(final String column) {
    catalog.answers.put(
        PATH,
        "{'metadata': {'current-schema-id': 3, 'schemas': [{'schema-id': 3, 'fields': [{'name': '"
                .replace('\'', '"')
            + column
            + "'}]}]}}".replace('\'', '"'));
  }

  private EnrichedLineage enrich(final String... options) {
    final Map<String, String> config = new HashMap<>();
    config.put("iceberg.catalog.type", "rest");
    config.put("iceberg.catalog.uri", catalog.url());
    for (int i = 0; i < options.length; i += 2) {
      config.put(options[i], options[i + 1]);
    }
    final ConnectorDefinition sink =
        new ConnectorDefinition("c", ConnectorType.SINK, "com.example.Sink", config, true);
    return enricher.enrich(sink, true, EXTRACTED);
  }

  private ConnectorLineage await(final Predicate<ConnectorLineage> is, final String... options)
      throws InterruptedException {
    EnrichedLineage now = enrich(options);
    while (now.isPending() || !is.test(now.lineage())) {
      Thread.sleep(5);
      now = enrich(options);
    }
    return now.lineage();
  }

  private static List<String> columns(final ConnectorLineage lineage) {
    return lineage.pairs().stream()
        .flatMap(pair -> pair.columns().edges().stream())
        .map(edge -> String.valueOf(edge.outputField()))
        .toList();
  }

  @Test
  void aTableIsLeftOutUntilItsColumnsAreKnown() throws InterruptedException {
    table("id");
    final EnrichedLineage first = enrich();
    assertThat(first.isPending()).isTrue();
    assertThat(first.lineage().outputs()).isEmpty();
    final ConnectorLineage found = await(lineage -> true);
    assertThat(found.outputs()).containsExactly(TABLE);
    assertThat(columns(found)).containsExactly("null", "id");
    final ColumnLineage lineage = found.pairs().get(0).columns();
    assertThat(lineage.unknownFields()).containsExactly("*");
    assertThat(lineage.reasons()).containsExactly("a reason");
    assertThat(found.notes()).isEmpty();
  }

  @Test
  void aTableIsReadAgain() throws InterruptedException {
    final ConnectorLineage missing = await(lineage -> true);
    assertThat(missing.outputs()).isEmpty();
    assertThat(missing.pairs()).isEmpty();
    assertThat(missing.notes()).containsExactly("Table 'a.b.orders' does not exist.");
    table("id");
    await(lineage -> columns(lineage).equals(List.of("null", "id")));
    table("gone");
    await(lineage -> columns(lineage).equals(List.of("null", "gone")));
  }

  @Test
  void theTokenIsSent() throws InterruptedException {
    table("id");
    await(lineage -> !lineage.outputs().isEmpty(), "iceberg.catalog.token", "secret");
    assertThat(catalog.requests).extracting(Request::authorization).containsOnly("Bearer secret");
  }

  @ParameterizedTest
  @EnumSource(names = {"FAIL", "GARBAGE", "HUGE", "REDIRECT"})
  void aCatalogThatDoesNotAnswerIsNamedAndAskedAgain(final ResponseMode mode)
      throws InterruptedException {
    table("id");
    catalog.mode = mode;
    final ConnectorLineage unknown = await(lineage -> true);
    assertThat(columns(unknown)).containsExactly("null", "gone", "id");
    assertThat(unknown.notes()).singleElement().asString().contains("which it has is unknown: GET");
    catalog.mode = ResponseMode.ANSWER;
    await(lineage -> columns(lineage).equals(List.of("null", "id")));
    catalog.mode = mode;
    final int before = catalog.requests.size();
    while (catalog.requests.size() < before + 3) {
      Thread.sleep(5);
      enrich();
    }
    assertThat(columns(enrich().lineage())).as("last answer").containsExactly("null", "id");
  }

  @Test
  void aCatalogThatHangsHoldsBackEventsForSeconds() throws InterruptedException {
    catalog.mode = ResponseMode.HANG;
    final ConnectorLineage unknown = await(lineage -> true);
    assertThat(columns(unknown)).containsExactly("null", "gone", "id");
    assertThat(unknown.notes())
        .singleElement()
        .asString()
        .contains("there is no answer yet about table a.b.orders");
  }

  @Test
  void anotherKindOfCatalogIsNotAsked() {
    final EnrichedLineage found = enrich("iceberg.catalog.type", "hive");
    assertThat(found.isPending()).isFalse();
    assertThat(columns(found.lineage())).containsExactly("null", "gone", "id");
    assertThat(found.lineage().notes())
        .containsExactly(
            "The sink neither creates nor changes tables: columns that a table lacks are not"
                + " written, and which it has is unknown: its catalog has no REST API.");
    assertThat(catalog.requests).isEmpty();
  }
}
