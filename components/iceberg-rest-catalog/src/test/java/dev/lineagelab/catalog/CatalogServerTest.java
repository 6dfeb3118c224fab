// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CatalogServerTest {
  private static final String JSON = "application/json";
  private static final Map<String, String> SETTINGS_WITHOUT_DATABASE =
      Map.of(
          "CATALOG_WAREHOUSE", "memory://warehouse/",
          "CATALOG_IO_IMPL", "org.apache.iceberg.inmemory.InMemoryFileIO",
          "CATALOG_CLIENT_S3_ENDPOINT", "http://outside:9000",
          "CATALOG_HOSTS", "iceberg_catalog, 10.0.0.1",
          "AWS_REGION", "us-east-1");

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

  @Test
  void servesTlsAloneWithAKeyStore() throws Exception {
    final Path keyStore = makeKeyStore();
    final Map<String, String> settings = new HashMap<>(SETTINGS_WITHOUT_DATABASE);
    settings.put("CATALOG_JDBC_URI", "jdbc:sqlite:" + dir.resolve("encrypted.db"));
    settings.put("CATALOG_KEY_STORE", keyStore.toString());
    final String[] port = {"--port", "0"};

    try (CatalogServer encrypted = CatalogServer.start(CatalogConfig.parse(port, settings))) {
      final URI uri = encrypted.uri().resolve("/v1/config");
      final HttpClient trusting = HttpClient.newBuilder().sslContext(trusting(keyStore)).build();

      assertThat(uri.getScheme()).isEqualTo("https");
      assertThat(trusting.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()))
          .returns(200, HttpResponse::statusCode);
      assertThatThrownBy(
              () -> client.send(HttpRequest.newBuilder(uri).build(), BodyHandlers.ofString()))
          .isInstanceOf(SSLException.class);
      final URI plain = URI.create(uri.toString().replace("https:", "http:"));
      assertThatThrownBy(
              () -> client.send(HttpRequest.newBuilder(plain).build(), BodyHandlers.ofString()))
          .isInstanceOf(IOException.class);
    }
  }

  /** Return a key store with a self-signed certificate for the loopback address. */
  private Path makeKeyStore() throws Exception {
    final Path file = dir.resolve("keystore.p12");
    final String tool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    final Process made =
        new ProcessBuilder(
                (tool
                        + " -genkeypair -alias catalog -keyalg EC -dname CN=catalog -ext san=ip:127.0.0.1"
                        + " -storetype PKCS12 -storepass changeit -keystore ")
                    .concat(file.toString())
                    .split(" "))
            .inheritIO()
            .start();
    assertThat(made.waitFor()).isZero();
    return file;
  }

  private static SSLContext trusting(final Path keyStore) throws Exception {
    final KeyStore own = KeyStore.getInstance(keyStore.toFile(), "changeit".toCharArray());
    final KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
    trusted.load(null, null);
    trusted.setCertificateEntry("catalog", own.getCertificate("catalog"));
    final TrustManagerFactory managers =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    managers.init(trusted);
    final SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, managers.getTrustManagers(), null);
    return context;
  }

  private CatalogConfig config(final int port) {
    final Map<String, String> settings = new HashMap<>(SETTINGS_WITHOUT_DATABASE);
    settings.put("CATALOG_JDBC_URI", "jdbc:sqlite:" + dir.resolve("catalog.db"));
    return CatalogConfig.parse(new String[] {"--port", Integer.toString(port)}, settings);
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
