// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.types.Password;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PluginSettingsTest {
  private static final WorkerProperties WORKER =
      new WorkerProperties(
          Map.of(
              "group.id", "lab",
              "bootstrap.servers", "SASL_SSL://kafka-1:9093,kafka-2:9093",
              "security.protocol", "SASL_SSL",
              "sasl.jaas.config", "login password=\"hush\"",
              "plugin.path", "/plugins",
              "openlineage.transport.url", "http://lineage:5000"));

  private static PluginSettings settings(final String... options) {
    final Map<String, String> given = new HashMap<>(WORKER.options());
    for (int at = 0; at < options.length; at += 2) {
      given.put(options[at], options[at + 1]);
    }
    return PluginSettings.of(given, WORKER);
  }

  @Test
  void everyOptionHasDocumentationAndDefault() {
    assertThat(OptionDefinitions.all().configKeys().values())
        .allSatisfy(key -> assertThat(key.documentation).as(key.name).endsWith("."))
        .extracting((ConfigDef.ConfigKey key) -> key.hasDefault())
        .containsOnly(true);
  }

  @Test
  void defaultsToWorkerProperties() {
    final PluginSettings settings = settings();
    assertThat(settings.jobNamespace()).isEqualTo("lab");
    assertThat(settings.namespaces().kafka()).isEqualTo("kafka://kafka-1:9093");
    assertThat(settings.transport().kind()).isEqualTo(TransportSettings.Kind.HTTP);
    assertThat(settings.state().clients())
        .containsEntry("security.protocol", "SASL_SSL")
        .doesNotContainKey("plugin.path");
  }

  @Test
  void mapsNamespacesToCanonicalOnes() {
    final PluginSettings settings =
        settings(
            "namespaces",
            "kafka://kafka-1:9093=kafka://kafka:9092, postgres://db:1=postgres://postgres:5432");
    assertThat(settings.namespaces().kafka()).isEqualTo("kafka://kafka:9092");
    assertThat(settings.namespaces().canonical().apply("postgres://db:1"))
        .isEqualTo("postgres://postgres:5432");
    assertThat(settings.namespaces().canonical().apply("kafka://kafka-1:9093"))
        .isEqualTo("kafka://kafka:9092");
    assertThat(settings.namespaces().canonical().apply("s3://lake")).isEqualTo("s3://lake");
  }

  @Test
  void mapsTheWorkersClusterToTheConfiguredNamespace() {
    final PluginSettings settings = settings("namespace.kafka", "kafka://canonical:9092");
    assertThat(settings.namespaces().kafka()).isEqualTo("kafka://canonical:9092");
    assertThat(settings.namespaces().canonical().apply("kafka://kafka-1:9093"))
        .isEqualTo("kafka://canonical:9092");
  }

  @Test
  void disablesTheTransportWithoutUrl() {
    assertThat(PluginSettings.of(Map.of(), WorkerProperties.UNKNOWN).transport().kind())
        .isEqualTo(TransportSettings.Kind.NONE);
  }

  @ParameterizedTest
  @CsvSource({
    "transport.url, lineage:5000",
    "transport.url, http://user:hush@lineage:5000",
    "transport.type, carrier-pigeon",
    "transport.endpoint, api",
    "interval.ms, 3",
    "interval.ms, soon",
    "queue.capacity, 0",
    "namespace.kafka, kafka-1:9092",
    "namespaces, kafka://a",
  })
  void rejectsInvalidValues(final String option, final String value) {
    assertThatThrownBy(() -> settings(option, value))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(option)
        .hasMessageNotContaining("hush");
  }

  @Test
  void reportsMissingTransportOptions() {
    assertThatThrownBy(() -> PluginSettings.of(Map.of("transport.type", "http"), WORKER))
        .hasMessageContaining("transport.url is missing");
    assertThatThrownBy(() -> settings("transport.type", "file"))
        .hasMessageContaining("transport.file is missing");
    assertThatThrownBy(
            () -> PluginSettings.of(Map.of("transport.type", "kafka"), WorkerProperties.UNKNOWN))
        .hasMessageContaining("kafka.bootstrap.servers");
  }

  @Test
  void omitsSecretsFromText() {
    final PluginSettings settings =
        settings(
            "transport.auth.bearer.token", "hush-1",
            "transport.ssl.truststore.location", "/trust",
            "transport.ssl.truststore.password", "hush-2",
            "kafka.sasl.password", "hush-3");
    final TransportSettings transport = settings.transport();
    assertThat(
            Stream.of(
                    WORKER,
                    settings.registry(),
                    settings.state(),
                    transport,
                    transport.http(),
                    transport.http().tls(),
                    transport.kafka())
                .map(Object::toString))
        .allSatisfy(text -> assertThat(text).doesNotContain("hush"));
    assertThat(settings.transport().http().headers().get("Authorization").value())
        .isEqualTo("Bearer hush-1");
  }

  @Test
  void sendsTheApiKeyInTheConfiguredHeader() {
    assertThat(
            settings("transport.auth.api.key", "k", "transport.auth.api.key.header", "X-Key")
                .transport()
                .http()
                .headers())
        .containsOnlyKeys("X-Key");
  }

  @Test
  void suggestsTheNearestOption() {
    assertThat(
            OptionSources.unknownOptionWarnings(
                "Worker property",
                "openlineage.",
                Set.of("transport.uri", "interval.ms", "type", "kafka.sasl.mechanism")))
        .singleElement()
        .asString()
        .contains(
            "openlineage.transport.uri is unknown", "did you mean openlineage.transport.url?");
  }

  @ParameterizedTest
  @CsvSource({
    "transport.uri, transport.url",
    "openlineage.transport.url, transport.url",
    "interval, interval.ms",
    "url, transport.url",
    "api.key, transport.auth.api.key",
    "Transport.Url, transport.url",
    "transport_url, transport.url",
    "retry.backoff.maximum.ms, retry.backoff.max.ms"
  })
  void suggestsTheOptionThatIsMeant(final String name, final String meant) {
    assertThat(OptionSources.unknownOptionWarnings("Option", "p.", Set.of(name)))
        .singleElement()
        .asString()
        .contains("p." + name + " is unknown", "did you mean p." + meant + "?");
  }

  @ParameterizedTest
  @ValueSource(strings = {"foo", "file.path", "retry.ms", "timeout.ms", "password", "queue.size"})
  void suggestsNothingForAnOptionThatResemblesNone(final String name) {
    assertThat(OptionSources.unknownOptionWarnings("Option", "p.", Set.of(name)))
        .singleElement()
        .asString()
        .contains("p." + name + " is unknown", "has no effect")
        .doesNotContain("did you mean");
  }

  @Test
  void prefersSystemPropertiesToEnvironmentVariables() {
    final Properties system = new Properties();
    system.setProperty("openlineage.transport.url", "http://system:1");
    final Map<String, String> environment =
        Map.of(
            "OPENLINEAGE_TRANSPORT_URL",
            "http://environment:1",
            "OPENLINEAGE_JOB_NAMESPACE",
            "jobs");
    assertThat(OptionSources.fromProcess(system, environment))
        .containsOnly(
            Map.entry("transport.url", "http://system:1"), Map.entry("job.namespace", "jobs"));
  }

  @Test
  void theApiKeyOfOpenLineagesClientsIsABearerToken() {
    final Map<String, Password> headers =
        settings("transport.auth.type", "api_key", "transport.auth.apiKey", "hush")
            .transport()
            .http()
            .headers();
    assertThat(headers).containsOnly(Map.entry("Authorization", new Password("Bearer hush")));
    assertThatThrownBy(() -> settings("transport.auth.type", "api_key"))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("transport.auth.type")
        .hasMessageContaining("transport.auth.apiKey is not");
  }

  @Test
  void readsTheVariablesOfAllOpenLineageClients() {
    final Map<String, String> standard =
        Map.of(
            "OPENLINEAGE_URL", "http://environment:1",
            "OPENLINEAGE_ENDPOINT", "api/v2/lineage",
            "OPENLINEAGE_API_KEY", "hush",
            "OPENLINEAGE_DISABLED", "True");
    assertThat(OptionSources.fromProcess(new Properties(), standard))
        .containsOnly(
            Map.entry("transport.url", "http://environment:1"),
            Map.entry("transport.endpoint", "/api/v2/lineage"),
            Map.entry("transport.auth.apiKey", "hush"),
            Map.entry("enabled", "false"));
    assertThat(
            OptionSources.fromProcess(
                new Properties(), Map.of("OPENLINEAGE_URL", " ", "OPENLINEAGE_DISABLED", "false")))
        .isEmpty();
  }

  @Test
  void theVariablesOfThePluginPrecedeThoseOfAllClients() {
    final Map<String, String> both =
        Map.of("OPENLINEAGE_URL", "http://all:1", "OPENLINEAGE_TRANSPORT_URL", "http://own:1");
    assertThat(OptionSources.fromProcess(new Properties(), both))
        .containsOnly(Map.entry("transport.url", "http://own:1"));
  }

  @Test
  void optionsOfTheEventProducerDoNotReachClientsOfTheWorkersCluster() {
    final WorkerProperties worker =
        new WorkerProperties(
            Map.of(
                "bootstrap.servers", "own:9092",
                "security.protocol", "SASL_SSL",
                "sasl.jaas.config", "hush"));
    final Map<String, String> options =
        Map.of(
            "transport.type", "kafka",
            "kafka.bootstrap.servers", "other:9092",
            "kafka.acks", "1");
    final PluginSettings found = PluginSettings.of(options, worker);
    assertThat(found.state().clients())
        .isEqualTo(
            Map.of(
                "bootstrap.servers", "own:9092",
                "security.protocol", "SASL_SSL",
                "sasl.jaas.config", "hush"));
    assertThat(found.transport().kafka().clients())
        .isEqualTo(Map.of("bootstrap.servers", "other:9092", "acks", "1"));
  }

  @Test
  void theEventProducerHasTheWorkersCredentialsForTheWorkersCluster() {
    final WorkerProperties worker =
        new WorkerProperties(
            Map.of("bootstrap.servers", "own:9092", "security.protocol", "SASL_SSL"));
    assertThat(
            PluginSettings.of(Map.of("transport.type", "kafka", "kafka.acks", "1"), worker)
                .transport()
                .kafka()
                .clients())
        .containsOnlyKeys("bootstrap.servers", "security.protocol", "acks");
  }
}
