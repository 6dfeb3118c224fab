// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.settings.WorkerProperties;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HttpTransportTest {
  private LoopbackService service;

  @BeforeEach
  void start() throws IOException {
    service = new LoopbackService();
  }

  @AfterEach
  void stop() {
    service.close();
  }

  private Transport transport(final String... options) {
    final Map<String, String> given = new HashMap<>(Map.of("transport.url", service.url() + "/"));
    for (int at = 0; at < options.length; at += 2) {
      given.put(options[at], options[at + 1]);
    }
    return Transports.of(PluginSettings.of(given, WorkerProperties.UNKNOWN).transport());
  }

  private static List<OutgoingEvent> events(final String... bodies) {
    return Stream.of(bodies).map(body -> new OutgoingEvent("job", body)).toList();
  }

  @Test
  void sendsOneByOneInOrder() throws Exception {
    assertThat(transport().send(events("1", "2")).accepted()).isEqualTo(2);
    assertThat(service.bodies()).containsExactly("1", "2");
    assertThat(service.requests)
        .allSatisfy(request -> assertThat(request.path()).isEqualTo("/api/v1/lineage"));
  }

  @Test
  void sendsAGzippedArrayToTheBatchEndpoint() throws Exception {
    final Transport transport =
        transport(
            "transport.batch.endpoint", "/api/v1/lineage/batch", "transport.compression", "gzip");
    assertThat(transport.send(events("1", "2")).accepted()).isEqualTo(2);
    assertThat(service.bodies()).containsExactly("[1,2]");
  }

  @Test
  void sendsABatchOneByOneAfterARejection() throws Exception {
    service.respondWith(request -> request.body().contains("bad") ? 422 : 201);
    final SendResult result =
        transport("transport.batch.endpoint", "/batch").send(events("1", "bad", "3"));
    assertThat(result.accepted()).isEqualTo(2);
    assertThat(result.rejected()).singleElement().asString().contains("422", "not even JSON");
    assertThat(service.bodies()).containsExactly("[1,bad,3]", "1", "bad", "3");
  }

  @Test
  void sendsCredentials() throws Exception {
    transport("transport.auth.api.key", "key").send(events("1"));
    transport("transport.auth.bearer.token", "token").send(events("1"));
    assertThat(service.requests)
        .extracting(LoopbackService.Request::key)
        .containsExactly("key", null);
    assertThat(service.requests)
        .extracting(LoopbackService.Request::authorization)
        .containsExactly(null, "Bearer token");
  }

  @ParameterizedTest
  @ValueSource(ints = {500, 502, 503, 507, 429, 408, 404, 401, 403})
  void retriesStatus(final int status) {
    service.respondWith(request -> status);
    assertThatThrownBy(() -> transport().send(events("1")))
        .isInstanceOf(TransportException.class)
        .hasMessageContaining(service.url())
        .hasMessageContaining(Integer.toString(status));
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 413, 415, 422, 302})
  void rejectsForStatus(final int status) throws Exception {
    service.respondWith(request -> status);
    assertThat(transport().send(events("1")).rejected()).hasSize(1);
  }

  @Test
  void settlesEventsAcceptedBeforeAFailure() throws Exception {
    service.respondWith(request -> "2".equals(request.body()) ? 503 : 201);
    assertThat(transport().send(events("1", "2", "3")).settled()).isEqualTo(1);
  }

  @Test
  void timesOutOnAHangingService() {
    service.respondWith(request -> LoopbackService.HANG);
    assertThatThrownBy(() -> transport("transport.request.timeout.ms", "50").send(events("1")))
        .isInstanceOf(TransportException.class)
        .hasMessageContaining("timed out");
  }

  @Test
  void reportsARefusedConnection() {
    final Transport transport = transport();
    service.close();
    assertThatThrownBy(() -> transport.send(events("1")))
        .isInstanceOf(TransportException.class)
        .hasMessageContaining("ConnectException");
  }

  @Test
  void reportsTheKeystoreThatItCannotRead() {
    assertThatThrownBy(() -> transport("transport.ssl.truststore.location", "/nowhere"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("/nowhere");
  }
}
