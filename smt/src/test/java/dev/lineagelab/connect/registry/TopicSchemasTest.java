// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.columns.TransformChain;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.ObservedTopic;
import dev.lineagelab.connect.registry.LoopbackRegistry.ResponseMode;
import dev.lineagelab.connect.registry.TopicSchemas.Found;
import dev.lineagelab.connect.settings.RegistrySettings;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.kafka.connect.data.Field;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The unhappy paths; {@code tests/connect/test_stores.py} asks a real registry. */
@Timeout(60)
class TopicSchemasTest {
  private static final RegistrySettings SETTINGS =
      new RegistrySettings(true, true, 10_000, Map.of(), Map.of());

  private LoopbackRegistry registry;
  private TopicSchemas schemas;

  @BeforeEach
  void start() throws IOException {
    registry = new LoopbackRegistry();
    schemas = new TopicSchemas(10_000, Duration.ofMillis(20));
  }

  @AfterEach
  void stop() {
    schemas.close();
    registry.close();
  }

  private static String avro(final String... fields) {
    return "{\"type\":\"record\",\"name\":\"Row\",\"fields\":["
        + String.join(
            ",",
            List.of(fields).stream()
                .map(name -> "{\"name\":\"" + name + "\",\"type\":\"string\"}")
                .toList())
        + "]}";
  }

  private ConnectorDefinition connector(final ConnectorType type, final String... active) {
    final Map<String, String> config =
        Map.of(
            "topics", "orders",
            "value.converter", "com.example.AnyAvroConverter",
            "value.converter.schema.registry.url", registry.url());
    return new ConnectorDefinition("c", type, "com.example.Sink", config, true, Set.of(active));
  }

  private Found await(final Predicate<Found> is, final String... active)
      throws InterruptedException {
    Found now = schemas.of(connector(ConnectorType.SINK, active), SETTINGS);
    while (now.isPending() || !is.test(now)) {
      Thread.sleep(5);
      now = schemas.of(connector(ConnectorType.SINK, active), SETTINGS);
    }
    return now;
  }

  private static List<String> fields(final Found found) {
    return found.topics().stream()
        .flatMap(topic -> topic.valueSchema().fields().stream())
        .map(Field::name)
        .toList();
  }

  @Test
  void theSchemaIsTheLatestOne() throws InterruptedException {
    registry.confluent("orders-value", avro("id"), avro("id", "name"));
    assertThat(schemas.of(connector(ConnectorType.SINK), SETTINGS).isPending()).isTrue();
    final Found found = await(now -> true);
    assertThat(fields(found)).containsExactly("id", "name");
    assertThat(found.topics())
        .singleElement()
        .extracting(ObservedTopic::topic, ObservedTopic::keySchema, ObservedTopic::alias)
        .containsExactly("orders", null, TransformChain.START_OF_CHAIN);
    assertThat(found.notes()).singleElement().asString().contains("latest schema");
    registry.confluent("orders-value", avro("id"), avro("id", "name"), avro("id", "name", "new"));
    await(now -> fields(now).contains("new"));
  }

  @Test
  void topicsThatWereReadByAPatternHaveOneToo() throws InterruptedException {
    registry.confluent("orders-value", avro("id"));
    registry.confluent("bids-value", avro("price"));
    assertThat(fields(await(now -> true, "bids"))).containsExactly("price", "id");
  }

  private Found await(final ConnectorDefinition connector, final RegistrySettings settings)
      throws InterruptedException {
    Found now = schemas.of(connector, settings);
    while (now.isPending()) {
      Thread.sleep(5);
      now = schemas.of(connector, settings);
    }
    return now;
  }

  @Test
  void aSourceHasThoseOfTheTopicsThatItHasWritten() throws InterruptedException {
    registry.confluent("shop.bids-value", avro("price"));
    final Found found = await(connector(ConnectorType.SOURCE, "shop.bids"), SETTINGS);
    assertThat(found.topics())
        .singleElement()
        .extracting(ObservedTopic::topic, ObservedTopic::keySchema, ObservedTopic::alias)
        .containsExactly("shop.bids", null, TransformChain.END_OF_CHAIN);
    assertThat(fields(found)).containsExactly("price");
  }

  @Test
  void keysHaveTheSchemaOfTheirOwnConverter() throws InterruptedException {
    registry.confluent("orders-value", avro("id"));
    registry.confluent("orders-key", avro("key"));
    final RegistrySettings withKeys =
        new RegistrySettings(
            true, true, 10_000, Map.of(), Map.of("schema.registry.url", registry.url()));
    final Found found = await(connector(ConnectorType.SINK), withKeys);
    assertThat(found.topics())
        .singleElement()
        .satisfies(
            topic ->
                assertThat(topic.keySchema().fields())
                    .extracting(Field::name)
                    .containsExactly("key"));
    assertThat(found.notes()).hasSize(1);
  }

  @Test
  void keysWithoutASubjectAreNoGap() throws InterruptedException {
    registry.confluent("orders-value", avro("id"));
    final RegistrySettings withKeys =
        new RegistrySettings(
            true, true, 10_000, Map.of(), Map.of("schema.registry.url", registry.url()));
    final Found found = await(connector(ConnectorType.SINK), withKeys);
    assertThat(found.topics()).singleElement().extracting(ObservedTopic::keySchema).isNull();
    assertThat(found.notes()).singleElement().asString().contains("latest schema");
  }

  @Test
  void aTopicWithoutASubjectIsNamed() throws InterruptedException {
    final Found found = await(now -> true);
    assertThat(found.topics()).isEmpty();
    assertThat(found.notes())
        .containsExactly(
            "The columns of topic 'orders' are unknown: subject 'orders-value' does not exist in"
                + " the registry.");
  }

  @Test
  void anUnsupportedSchemaIsNamed() throws InterruptedException {
    registry.answers.put("/subjects/orders-value/versions", "[1]");
    registry.answers.put(
        "/subjects/orders-value/versions/1", "{\"schemaType\":\"PROTOBUF\",\"schema\":\"\"}");
    final Found found = await(now -> true);
    assertThat(found.notes())
        .containsExactly(
            "The columns of topic 'orders' are unknown: schemas of type PROTOBUF are not compared.");
  }

  @Test
  void theLastAnswerStaysWhileTheRegistryIsAway() throws InterruptedException {
    registry.mode = ResponseMode.FAIL;
    assertThat(await(now -> true).notes()).singleElement().asString().contains("returned 500");
    registry.confluent("orders-value", avro("id"));
    registry.mode = ResponseMode.ANSWER;
    await(now -> fields(now).equals(List.of("id")));
    registry.mode = ResponseMode.FAIL;
    final int before = registry.requests.size();
    await(now -> registry.requests.size() > before + 3);
    assertThat(fields(await(now -> true))).containsExactly("id");
  }

  @Test
  void othersAreNotLookedUp() {
    // A source whose topics nobody knows.
    assertThat(schemas.of(connector(ConnectorType.SOURCE), SETTINGS)).isEqualTo(Found.NONE);
    final RegistrySettings off = new RegistrySettings(false, true, 60, Map.of(), Map.of());
    assertThat(schemas.of(connector(ConnectorType.SINK), off)).isEqualTo(Found.NONE);
    final ConnectorDefinition json =
        new ConnectorDefinition(
            "c", ConnectorType.SINK, "com.example.Sink", Map.of("topics", "orders"), true);
    assertThat(schemas.of(json, SETTINGS)).isEqualTo(Found.NONE);
    assertThat(registry.requests).isEmpty();
  }

  @Test
  void aReferenceIsNamed() {
    final ConnectorDefinition sink =
        new ConnectorDefinition(
            "c",
            ConnectorType.SINK,
            "com.example.Sink",
            Map.of(
                "topics", "orders",
                "value.converter", "com.example.AnyAvroConverter",
                "value.converter.schema.registry.url", "${file:/secrets:url}"),
            true);
    assertThat(schemas.of(sink, SETTINGS).notes())
        .singleElement()
        .asString()
        .startsWith("The columns of the topics are unknown: the value of 'schema.registry.url'");
  }
}
