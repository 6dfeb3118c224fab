// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.DatasetSchema;
import dev.lineagelab.connect.model.Field;
import dev.lineagelab.connect.model.RegisteredSchema;
import dev.lineagelab.connect.registry.LoopbackRegistry.ResponseMode;
import dev.lineagelab.connect.settings.RegistrySettings;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.config.types.Password;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(60)
class SchemaVersionEnricherTest {
  private static final String TABLE = "s3://warehouse";
  private static final Dataset TOPIC = new Dataset("kafka://kafka:9092", "orders");
  private static final Field ID = Field.of("id", "int64");
  private static final Field NAME = Field.of("name", "string");
  private static final Field KEY = Field.of("_key", "string");

  private LoopbackRegistry registry;
  private SchemaVersionLookups lookups;
  private SchemaVersionEnricher enricher;

  @BeforeEach
  void start() throws IOException {
    registry = new LoopbackRegistry();
    lookups =
        new SchemaVersionLookups(10_000, List.of(Duration.ofMillis(20), Duration.ofMillis(50)));
    enricher = new SchemaVersionEnricher(lookups);
  }

  @AfterEach
  void stop() {
    enricher.close();
    registry.close();
  }

  private static String avro(final Field... fields) {
    return Stream.of(fields)
        .map(
            field ->
                "{\"name\":\""
                    + field.name()
                    + "\",\"type\":[\"null\",\""
                    + ("int64".equals(field.type()) ? "long" : field.type())
                    + "\"]}")
        .collect(
            Collectors.joining(",", "{\"type\":\"record\",\"name\":\"Row\",\"fields\":[", "]}"));
  }

  private static ConnectorLineage description(final Field... fields) {
    return new ConnectorLineage(
        List.of(TOPIC),
        List.of(new Dataset(TABLE, "orders")),
        List.of(),
        Map.of(TOPIC, new DatasetSchema(null, 7, List.of(fields))),
        Map.of(),
        List.of());
  }

  private ConnectorDefinition sink(final Map<String, String> options) {
    final Map<String, String> config = new HashMap<>(options);
    config.put("value.converter", "com.example.AnyAvroConverter");
    return new ConnectorDefinition("c", ConnectorType.SINK, "com.example.Sink", config, true);
  }

  private ConnectorDefinition confluentSink() {
    return sink(Map.of("value.converter.schema.registry.url", registry.url()));
  }

  private static RegistrySettings settings() {
    return new RegistrySettings(true, true, 10_000, Map.of(), Map.of());
  }

  private EnrichedLineage enrich(
      final ConnectorDefinition connector, final ConnectorLineage found) {
    return enricher.enrich(connector, settings(), found);
  }

  private ConnectorLineage await(
      final ConnectorDefinition connector,
      final ConnectorLineage found,
      final Predicate<EnrichedLineage> is)
      throws InterruptedException {
    EnrichedLineage now = enrich(connector, found);
    while (!is.test(now)) {
      Thread.sleep(5);
      now = enrich(connector, found);
    }
    return now.lineage();
  }

  private static RegisteredSchema registered(final ConnectorLineage description) {
    return description.schemas().get(TOPIC).registered();
  }

  private static boolean isFound(final EnrichedLineage now) {
    return registered(now.lineage()) != null;
  }

  private static boolean hasNotes(final EnrichedLineage now) {
    return !now.lineage().notes().isEmpty();
  }

  @Test
  void findsTheVersionWithTheObservedColumns() throws InterruptedException {
    registry.confluent("orders-value", avro(ID), avro(ID, NAME), avro(ID, Field.of("x", "string")));
    final ConnectorLineage found =
        await(confluentSink(), description(ID, NAME, KEY), x -> isFound(x));
    assertThat(registered(found)).isEqualTo(new RegisteredSchema("orders-value", "2", "102"));
    assertThat(found.schemas().get(TOPIC).fields()).containsExactly(ID, NAME, KEY);
    assertThat(found.notes()).isEmpty();
  }

  @Test
  void distinguishesVersionsByColumnType() throws InterruptedException {
    registry.confluent("orders-value", avro(Field.of("id", "string")), avro(ID));
    final ConnectorLineage found =
        await(confluentSink(), description(Field.of("id", "string")), x -> isFound(x));
    assertThat(registered(found).version()).isEqualTo("1");
  }

  @Test
  void findsVersionsOfScalarValues() throws InterruptedException {
    registry.confluent("orders-value", "\"long\"", "\"string\"");
    final Field value = Field.of("_value", "string");
    final ConnectorLineage found = await(confluentSink(), description(value, KEY), x -> isFound(x));
    assertThat(registered(found).version()).isEqualTo("2");
  }

  @Test
  void notesUnsupportedSchemaTypes() throws InterruptedException {
    registry.answers.put("/subjects/orders-value/versions", "[1]");
    registry.answers.put(
        "/subjects/orders-value/versions/1",
        "{\"schemaType\":\"PROTOBUF\",\"schema\":\"syntax = 3\"}");
    final ConnectorLineage found = await(confluentSink(), description(ID), x -> hasNotes(x));
    assertThat(found.notes().get(0)).endsWith("schemas of type PROTOBUF are not compared.");
  }

  @Test
  void readsEachVersionOnce() throws InterruptedException {
    registry.confluent("orders-value", avro(ID));
    await(confluentSink(), description(ID), x -> isFound(x));
    final int requests = registry.requests.size();
    for (int i = 0; i < 1000; i++) {
      enrich(confluentSink(), description(ID));
    }
    assertThat(registry.requests).hasSize(requests).hasSize(2);
    registry.confluent("orders-value", avro(ID), avro(ID, NAME));
    await(confluentSink(), description(ID, NAME), x -> isFound(x));
    assertThat(registry.requests.stream().map(LoopbackRegistry.Request::path))
        .as("the first version never changes")
        .filteredOn(path -> path.endsWith("/versions/1"))
        .hasSize(1);
  }

  @Test
  void findsAVersionThatIsRegisteredLater() throws InterruptedException {
    registry.confluent("orders-value", avro(ID));
    assertThat(enrich(confluentSink(), description(ID, NAME)).isPending()).isTrue();
    while (registry.requests.isEmpty()) {
      Thread.onSpinWait();
    }
    registry.confluent("orders-value", avro(ID), avro(ID, NAME));
    final ConnectorLineage found = await(confluentSink(), description(ID, NAME), x -> isFound(x));
    assertThat(registered(found).version()).isEqualTo("2");
  }

  @Test
  void notesAMissingVersion() throws InterruptedException {
    registry.confluent("orders-value", avro(ID));
    final ConnectorLineage found = await(confluentSink(), description(NAME), x -> hasNotes(x));
    assertThat(registered(found)).isNull();
    assertThat(found.schemas().get(TOPIC).version())
        .as("the Connect schema's own version is not a registry version")
        .isNull();
    assertThat(found.notes())
        .containsExactly(
            "The version of 'orders-value' in the registry is unknown."
                + " Subject 'orders-value' has no version with the observed columns.");
  }

  @ParameterizedTest
  @EnumSource(
      value = ResponseMode.class,
      names = {"FAIL", "GARBAGE", "HUGE", "REDIRECT"})
  void givesUpOnAFailingRegistry(final ResponseMode mode) throws InterruptedException {
    registry.mode = mode;
    final ConnectorLineage found = await(confluentSink(), description(ID), x -> hasNotes(x));
    assertThat(registered(found)).isNull();
    assertThat(found.notes()).hasSize(1);
    assertThat(registry.requests).as("one request per attempt").hasSize(3);
  }

  @ParameterizedTest
  @EnumSource(
      value = ResponseMode.class,
      names = {"HANG", "TRICKLE"})
  void neverBlocksOnAHangingRegistry(final ResponseMode mode) {
    registry.mode = mode;
    final EnrichedLineage first = enrich(confluentSink(), description(ID));
    assertThat(first.isPending()).isTrue();
    assertThat(registered(first.lineage())).isNull();
    while (registry.requests.isEmpty()) {
      assertThat(registered(enrich(confluentSink(), description(ID)).lineage())).isNull();
    }
    enricher.close();
  }

  @Test
  void timesOutOnAHangingRegistry() throws Exception {
    final RegistryHttp http =
        new RegistryHttp(Duration.ofMillis(100), new RequestRateLimiter(10, System::nanoTime));
    for (final ResponseMode mode : List.of(ResponseMode.HANG, ResponseMode.TRICKLE)) {
      registry.mode = mode;
      assertThatThrownBy(
              () -> http.get(registry.url() + "/subjects", new Password(""), RegistryTls.NONE))
          .isInstanceOf(RegistryException.class)
          .hasMessageContaining("timed out"); // on a busy machine, already while connecting
    }
  }

  @Test
  void sendsNoRequestWithoutARegistryOrWhenDisabled() {
    final ConnectorDefinition json = sink(Map.of("value.converter.schemas.enable", "true"));
    assertThat(enrich(json, description(ID)).lineage()).isEqualTo(description(ID));
    final RegistrySettings off = new RegistrySettings(false, true, 60, Map.of(), Map.of());
    assertThat(enricher.enrich(confluentSink(), off, description(ID)).lineage())
        .isEqualTo(description(ID));
    assertThat(registry.requests).isEmpty();
  }

  @Test
  void usesTheWorkersConverterUnlessOverridden() throws InterruptedException {
    registry.confluent("orders-value", avro(ID));
    final RegistrySettings worker =
        new RegistrySettings(
            true, true, 60, Map.of("schema.registry.url", registry.url()), Map.of());
    final ConnectorDefinition without =
        new ConnectorDefinition("c", ConnectorType.SINK, "com.example.Sink", Map.of(), true);
    EnrichedLineage now = enricher.enrich(without, worker, description(ID));
    while (now.isPending()) {
      now = enricher.enrich(without, worker, description(ID));
    }
    assertThat(registered(now.lineage()).version()).isEqualTo("1");
    assertThat(enricher.enrich(sink(Map.of()), worker, description(ID)).lineage())
        .isEqualTo(description(ID));
  }

  static Stream<Map<String, String>> apis() {
    final String groups = "apicurio.registry.artifact.group-id";
    return Stream.of(
        Map.of("apicurio.registry.url", "URL", "apicurio.registry.use-id", "contentId"),
        Map.of("apicurio.registry.url", "URL/apis/registry/v2/", groups, "shop"),
        Map.of("apicurio.registry.url", "URL/apis/registry/v3"),
        Map.of("apicurio.registry.url", "URL/apis/ccompat/v7"),
        Map.of("schema.registry.url", "URL/apis/ccompat/v7,http://other:8081"));
  }

  @ParameterizedTest
  @MethodSource("apis")
  void usesTheApiOfTheConverter(final Map<String, String> options) throws InterruptedException {
    answerInAllApis();
    final Map<String, String> config = new HashMap<>();
    options.forEach(
        (name, value) ->
            config.put("value.converter." + name, value.replace("URL", registry.url())));
    final ConnectorLineage found = await(sink(config), description(ID), x -> isFound(x));
    final boolean isGlobal =
        config.containsKey("value.converter.apicurio.registry.artifact.group-id");
    assertThat(registered(found))
        .isEqualTo(new RegisteredSchema("orders-value", "1", isGlobal ? "9" : "101"));
  }

  private void answerInAllApis() {
    registry.confluent("orders-value", avro(ID));
    for (final String path :
        List.of("/subjects/orders-value/versions", "/subjects/orders-value/versions/1")) {
      registry.answers.put("/apis/ccompat/v7" + path, registry.answers.get(path));
    }
    final String meta = "{\"version\":\"1\",\"globalId\":9,\"contentId\":101,";
    for (final String group : List.of("default", "shop")) {
      final String path = "/groups/" + group + "/artifacts/orders-value/versions";
      registry.answers.put(
          "/apis/registry/v2" + path, "{\"versions\":[" + meta + "\"type\":\"AVRO\"}]}");
      registry.answers.put("/apis/registry/v2" + path + "/1", avro(ID));
      registry.answers.put(
          "/apis/registry/v3" + path, "{\"versions\":[" + meta + "\"artifactType\":\"AVRO\"}]}");
      registry.answers.put("/apis/registry/v3" + path + "/1/content", avro(ID));
    }
  }

  @Test
  void sendsCredentialsToTheRegistryOnly() throws InterruptedException {
    registry.confluent("orders-value", avro(ID));
    final ConnectorDefinition connector =
        sink(
            Map.of(
                "value.converter.schema.registry.url",
                registry.url().replace("://", "://user:secret@")));
    final ConnectorLineage found = await(connector, description(ID), x -> isFound(x));
    assertThat(registry.requests)
        .allMatch(request -> "Basic dXNlcjpzZWNyZXQ=".equals(request.authorization()));
    assertThat(found.toString()).doesNotContain("secret").doesNotContain("dXNlcjpzZWNyZXQ");
    registry.mode = ResponseMode.FAIL;
    final ConnectorLineage failed = await(connector, description(NAME), x -> hasNotes(x));
    assertThat(failed.notes().toString()).contains("500").doesNotContain("secret");
  }

  @Test
  void omitsInvalidCredentialsFromNotes() throws InterruptedException {
    final Map<String, String> options =
        Map.of(
            "value.converter.schema.registry.url", registry.url(),
            "value.converter.bearer.auth.credentials.source", "STATIC_TOKEN",
            "value.converter.bearer.auth.token", "hidden\nword");
    final ConnectorLineage found = await(sink(options), description(ID), x -> hasNotes(x));
    assertThat(found.notes().toString()).doesNotContain("hidden").doesNotContain("word");
  }

  @Test
  void notesTheUnresolvableOption() {
    final Map<String, String> options =
        Map.of(
            "value.converter.schema.registry.url", registry.url(),
            "value.converter.basic.auth.credentials.source", "USER_INFO",
            "value.converter.basic.auth.user.info", "${file:/secrets:user}");
    final ConnectorLineage found = enrich(sink(options), description(ID)).lineage();
    assertThat(found.notes())
        .containsExactly(
            "The registry of the value converter cannot be queried for versions:"
                + " the value of 'basic.auth.user.info' is a reference.");
    assertThat(registry.requests).isEmpty();
  }
}
