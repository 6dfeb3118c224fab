// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.settings.WorkerProperties;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OpenLineageTransportTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final String EVENT =
      """
      {"eventType":"RUNNING","eventTime":"2026-01-01T00:00:00.123456789Z","producer":"urn:plugin",
      "schemaURL":"https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
      "run":{"runId":"00000000-0000-7000-8000-00000000000%d","facets":{"lineageLab_emitterQueue":
      {"_producer":"urn:plugin","_schemaURL":"urn:queue","waiting":3,"dropped":0}}},
      "job":{"namespace":"connect","name":"orders","facets":{}},
      "inputs":[{"namespace":"kafka://k:9092","name":"orders","facets":{"schema":{"_producer":
      "urn:plugin","_schemaURL":"urn:schema","fields":[{"name":"id","type":"string"}]}}}],
      "outputs":[{"namespace":"file","name":"/out","facets":{"columnLineage":{"_producer":
      "urn:plugin","_schemaURL":"urn:columns","fields":{"line":{"inputFields":[{"namespace":
      "kafka://k:9092","name":"orders","field":"id","transformations":[{"type":"DIRECT",
      "subtype":"IDENTITY","description":"","masking":false}]}]}},
      "unknownFields":{"other":["no schema"]}}}}]}
      """;

  @TempDir private Path folder;

  private static List<OutgoingEvent> events(final int count) {
    return Stream.iterate(1, number -> number + 1)
        .limit(count)
        .map(number -> new OutgoingEvent("orders", EVENT.formatted(number)))
        .toList();
  }

  private Path configured(final String... lines) throws IOException {
    return Files.write(folder.resolve("client.yml"), List.of(lines));
  }

  private Path http(final LoopbackService service) throws IOException {
    return configured(
        "transport:",
        "  type: http",
        "  url: " + service.url(),
        "  auth:",
        "    type: api_key",
        "    apiKey: secret");
  }

  private static Transport transport(final Path config) {
    final Map<String, String> options =
        Map.of("transport.type", "openlineage", "transport.config", config.toString());
    return Transports.of(PluginSettings.of(options, WorkerProperties.UNKNOWN).transport());
  }

  private static List<JsonNode> parsed(final List<String> events) throws IOException {
    final List<JsonNode> found = new ArrayList<>();
    for (final String event : events) {
      found.add(JSON.readTree(event));
    }
    return found;
  }

  @Test
  void clientSendsWhatThePluginHasWritten() throws Exception {
    try (LoopbackService service = new LoopbackService();
        Transport transport = transport(http(service))) {
      assertThat(transport.send(events(2))).isEqualTo(new SendResult(2, List.of()));
      assertThat(parsed(service.bodies()))
          .isEqualTo(parsed(events(2).stream().map(OutgoingEvent::json).toList()));
      assertThat(service.requests)
          .allSatisfy(request -> assertThat(request.authorization()).isEqualTo("Bearer secret"));
    }
  }

  @Test
  void otherTransportsOfTheClientAreFoundWhateverTheContextClassLoader() throws Exception {
    final Path written = folder.resolve("events.ndjson");
    final Thread thread = Thread.currentThread();
    final ClassLoader former = thread.getContextClassLoader();
    thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
    try (Transport transport =
        transport(configured("transport:", "  type: file", "  location: " + written))) {
      assertThat(transport.send(events(3)).accepted()).isEqualTo(3);
      assertThat(thread.getContextClassLoader()).isSameAs(ClassLoader.getPlatformClassLoader());
    } finally {
      thread.setContextClassLoader(former);
    }
    assertThat(Files.readAllLines(written)).hasSize(3);
  }

  @ParameterizedTest
  @ValueSource(ints = {401, 404, 429, 500, 503})
  void unavailableServiceLeavesTheRestOfABatch(final int status) throws Exception {
    try (LoopbackService service = new LoopbackService();
        Transport transport = transport(http(service))) {
      service.respondWith(request -> request.body().contains("000002") ? status : 201);
      assertThat(transport.send(events(3))).isEqualTo(new SendResult(1, List.of()));
      assertThatThrownBy(() -> transport.send(events(3).subList(1, 3)))
          .isInstanceOf(TransportException.class)
          .hasMessageContaining(String.valueOf(status));
      service.respondWith(request -> 201);
      assertThat(transport.send(events(3).subList(1, 3)).accepted()).isEqualTo(2);
    }
  }

  @Test
  void rejectedEventDoesNotStopOthers() throws Exception {
    try (LoopbackService service = new LoopbackService();
        Transport transport = transport(http(service))) {
      service.respondWith(request -> request.body().contains("000002") ? 422 : 201);
      final SendResult result = transport.send(events(3));
      assertThat(result.accepted()).isEqualTo(2);
      assertThat(result.rejected()).singleElement().asString().contains("422");
    }
  }

  @Test
  void eventThatTheClientCannotReadIsRejected() throws Exception {
    try (LoopbackService service = new LoopbackService();
        Transport transport = transport(http(service))) {
      final SendResult result =
          transport.send(List.of(new OutgoingEvent("orders", "{\"run\": 1}")));
      assertThat(result.rejected()).singleElement().asString().contains("cannot read the event");
    }
  }

  @Test
  void missingServiceIsRetried() throws Exception {
    try (Transport transport =
        transport(configured("transport:", "  type: http", "  url: http://127.0.0.1:1"))) {
      assertThatThrownBy(() -> transport.send(events(1)))
          .isInstanceOf(TransportException.class)
          .hasMessageContaining("127.0.0.1:1");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"transport: {type: nonsense}", "garbage: [", "transport: {type: http}"})
  void unusableConfigurationIsNamed(final String text) throws Exception {
    final Path config = configured(text);
    assertThatThrownBy(() -> transport(config))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(config.toString());
  }

  @Test
  void missingConfigurationIsNamed() {
    final Path config = folder.resolve("nowhere.yml");
    assertThatThrownBy(() -> transport(config))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(config + " of OpenLineage's client cannot be read");
  }

  @Test
  void missingClientIsNamed() throws Exception {
    final List<URL> entries = new ArrayList<>();
    for (final String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
      if (!entry.contains("openlineage-java")) {
        entries.add(Path.of(entry).toUri().toURL());
      }
    }
    try (URLClassLoader loader =
        new URLClassLoader(entries.toArray(new URL[0]), ClassLoader.getPlatformClassLoader())) {
      final Class<?> properties = loader.loadClass(WorkerProperties.class.getName());
      final Object settings =
          loader
              .loadClass(PluginSettings.class.getName())
              .getMethod("of", Map.class, properties)
              .invoke(
                  null,
                  Map.of("transport.type", "openlineage"),
                  properties.getField("UNKNOWN").get(null));
      final Object selected = settings.getClass().getMethod("transport").invoke(settings);
      final var of =
          loader.loadClass(Transports.class.getName()).getMethod("of", selected.getClass());
      assertThatThrownBy(() -> of.invoke(null, selected))
          .isInstanceOf(InvocationTargetException.class)
          .cause()
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("not in the plugin's folder");
    }
  }
}
