// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CatalogServerTest {
  private static final String JSON = "application/json";

  @TempDir Path dir;

  private final HttpClient client = HttpClient.newHttpClient();
  private CatalogServer server;

  @BeforeEach
  void start() throws IOException {
    server = CatalogServer.start(config(0));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  @Test
  void servesItsConfigWhenReady() throws Exception {
    final HttpResponse<String> config = get("/v1/config");

    assertThat(config.statusCode()).isEqualTo(200);
    assertThat(config.body()).contains("\"defaults\"").contains("\"overrides\"");
    assertThat(config.body())
        .contains("\"s3.endpoint\":\"http://outside:9000\"")
        .contains("\"s3.path-style-access\":\"true\"")
        .contains("\"s3.region\":\"us-east-1\"")
        .contains("\"endpoints\"");
  }

  @Test
  void listensOnTheConfiguredAddressOnly() {
    assertThat(server.uri().getHost()).isEqualTo("127.0.0.1");
    assertThatThrownBy(
            () -> {
              try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress("127.0.0.2", server.uri().getPort()), 1_000);
              }
            })
        .isInstanceOf(IOException.class);
  }

  @Test
  void rejectsASecondNamespaceOfTheSameName() throws Exception {
    assertThat(createNamespace("sales").statusCode()).isEqualTo(200);
    assertThat(get("/v1/namespaces/sales").body()).contains("\"sales\"");
    assertThat(createNamespace("sales").statusCode()).isEqualTo(409);
    assertThat(get("/v1/namespaces/absent").statusCode()).isEqualTo(404);
  }

  @Test
  void keepsTablesAcrossARestart() throws Exception {
    createNamespace("sales");
    assertThat(createTable("sales", "orders").statusCode()).isEqualTo(200);

    server.close();
    server = CatalogServer.start(config(0));

    assertThat(get("/v1/namespaces/sales/tables").body()).contains("\"orders\"");
  }

  @Test
  void servesConcurrentRequestsWithoutDatabaseLockErrors() throws Exception {
    createNamespace("sales");
    final List<CompletableFuture<HttpResponse<String>>> requests =
        IntStream.range(0, 64)
            .mapToObj(
                i -> client.sendAsync(tableRequest("sales", "t" + i), BodyHandlers.ofString()))
            .toList();

    assertThat(requests).extracting(request -> request.get().statusCode()).containsOnly(200);
    assertThat(get("/v1/namespaces/sales/tables").body().split("\"name\"")).hasSize(65);
  }

  @Test
  void failsOnAPortInUse() {
    assertThatThrownBy(() -> CatalogServer.start(config(server.uri().getPort())))
        .isInstanceOf(IOException.class)
        .hasRootCauseInstanceOf(BindException.class);
  }

  @ParameterizedTest
  @CsvSource({
    "Origin, http://pages.example.org",
    "Origin, http://127.0.0.1:9",
    "Origin, null",
    "Sec-Fetch-Site, cross-site",
    "Host, rebound.example.org",
    "Host, iceberg_catalog.example.org",
    "Host, other.lab.svc"
  })
  void refusesRequestsOfOtherOrigins(final String header, final String value) throws Exception {
    // HttpClient does not let its user set Host.
    assertThat(send("POST", "/v1/namespaces", header + ": " + value, "{\"namespace\":[\"a\"]}"))
        .startsWith("HTTP/1.1 403 ")
        .contains("\"message\":\"Refused: ", "\"type\":\"ForbiddenException\"");
    assertThat(get("/v1/namespaces").body()).contains("\"namespaces\":[]");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "localhost",
        "iceberg_catalog",
        "127.0.0.1",
        "ICEBERG_CATALOG.:8181",
        "iceberg_catalog.lab.svc",
        "iceberg_catalog.lab.svc.cluster.local:8181"
      })
  void servesItsOwnNamesAndOrigin(final String host) throws Exception {
    assertThat(send("GET", "/v1/config", "Host: " + host, "")).startsWith("HTTP/1.1 200 ");
    assertThat(send("GET", "/v1/config", "Host: " + host + "\r\nOrigin: http://" + host, ""))
        .startsWith("HTTP/1.1 200 ");
  }

  private String send(
      final String method, final String path, final String headers, final String body)
      throws IOException {
    final String host = headers.startsWith("Host:") ? "" : "Host: localhost\r\n";
    final String head = "%s %s HTTP/1.1\r\n%s%s\r\nContent-Type: application/json\r\n";
    final String end = "Connection: close\r\nContent-Length: %d\r\n\r\n%s";
    final String request =
        head.formatted(method, path, host, headers) + end.formatted(body.length(), body);
    try (Socket socket = new Socket("127.0.0.1", server.uri().getPort())) {
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
    }
  }

  private CatalogConfig config(final int port) {
    return CatalogConfig.parse(
        new String[] {"--port", Integer.toString(port)},
        Map.of(
            "CATALOG_JDBC_URI", "jdbc:sqlite:" + dir.resolve("catalog.db"),
            "CATALOG_WAREHOUSE", "memory://warehouse/",
            "CATALOG_IO_IMPL", "org.apache.iceberg.inmemory.InMemoryFileIO",
            "CATALOG_CLIENT_S3_ENDPOINT", "http://outside:9000",
            "CATALOG_HOSTS", "iceberg_catalog, 10.0.0.1",
            "AWS_REGION", "us-east-1"));
  }

  private HttpResponse<String> createNamespace(final String name) throws Exception {
    return post("/v1/namespaces", "{\"namespace\": [\"" + name + "\"], \"properties\": {}}");
  }

  private HttpResponse<String> createTable(final String namespace, final String table)
      throws Exception {
    return client.send(tableRequest(namespace, table), BodyHandlers.ofString());
  }

  private HttpRequest tableRequest(final String namespace, final String table) {
    return request(
        "/v1/namespaces/" + namespace + "/tables",
        """
        {"name": "%s", "schema": {"type": "struct", "schema-id": 0, "fields": [
          {"id": 1, "name": "order_id", "type": "string", "required": false}]}}
        """
            .formatted(table));
  }

  private HttpResponse<String> get(final String path) throws Exception {
    return client.send(
        HttpRequest.newBuilder(server.uri().resolve(path)).build(), BodyHandlers.ofString());
  }

  private HttpResponse<String> post(final String path, final String body) throws Exception {
    return client.send(request(path, body), BodyHandlers.ofString());
  }

  private HttpRequest request(final String path, final String body) {
    return HttpRequest.newBuilder(server.uri().resolve(path))
        .header("Content-Type", JSON)
        .POST(BodyPublishers.ofString(body))
        .build();
  }
}
