// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.apache.kafka.common.config.types.Password;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests to a server whose certificate is of a private authority. */
@Timeout(120)
class RegistryTlsTest {
  private static final String SECRET = "store-password";

  @TempDir static Path folder;
  private static HttpsServer server;
  private static Path trusted;

  @BeforeAll
  static void start() throws Exception {
    final Path key = folder.resolve("server.p12");
    keytool(
        key, "-genkeypair", "-keyalg", "RSA", "-dname", "CN=registry", "-ext", "san=ip:127.0.0.1");
    final Path certificate = folder.resolve("ca.pem");
    keytool(key, "-exportcert", "-rfc", "-file", certificate.toString());
    trusted = folder.resolve("trusted.p12");
    keytool(trusted, "-importcert", "-noprompt", "-file", certificate.toString());
    server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setHttpsConfigurator(new HttpsConfigurator(contextOf(key)));
    server.createContext(
        "/",
        exchange -> {
          final byte[] body = "[1]".getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
  }

  @AfterAll
  static void stop() {
    server.stop(0);
  }

  private static void keytool(final Path store, final String... words)
      throws IOException, InterruptedException {
    final List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of(words));
    command.addAll(List.of("-alias", "registry", "-storetype", "PKCS12", "-storepass", SECRET));
    command.addAll(List.of("-keystore", store.toString()));
    final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    final String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
  }

  private static SSLContext contextOf(final Path store) throws Exception {
    final KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream file = Files.newInputStream(store)) {
      keys.load(file, SECRET.toCharArray());
    }
    final KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(keys, SECRET.toCharArray());
    final SSLContext context = SSLContext.getInstance("TLS");
    context.init(managers.getKeyManagers(), null, null);
    return context;
  }

  private static String get(final RegistryTls tls) throws Exception {
    final RegistryHttp http =
        new RegistryHttp(Duration.ofSeconds(30), new RequestRateLimiter(100, System::nanoTime));
    final String url = "https://127.0.0.1:" + server.getAddress().getPort() + "/subjects";
    return http.get(url, new Password(""), tls).orElseThrow().toString();
  }

  private static Map<String, String> store(final String prefix, final Path file) {
    return Map.of(
        "schema.registry.url",
        "https://127.0.0.1",
        prefix + "ssl.truststore.location",
        file.toString(),
        prefix + "ssl.truststore.password",
        SECRET,
        prefix + "ssl.truststore.type",
        "PKCS12");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "schema.registry.", "apicurio.registry.request."})
  void privateAuthorityOfTheConverterIsTrusted(final String prefix) throws Exception {
    assertThat(get(RegistryTls.of(store(prefix, trusted)))).isEqualTo("[1]");
  }

  @Test
  void certificateFileIsTrusted() throws Exception {
    final Map<String, String> options =
        Map.of(
            "schema.registry.ssl.truststore.type",
            "PEM",
            "schema.registry.ssl.truststore.location",
            folder.resolve("ca.pem").toString());
    assertThat(get(RegistryTls.of(options))).isEqualTo("[1]");
  }

  @Test
  void unknownAuthorityIsRefused() {
    assertThatThrownBy(() -> get(RegistryTls.of(Map.of("schema.registry.url", "https://a"))))
        .isInstanceOf(RegistryException.class)
        .hasMessageContaining("failed");
  }

  @Test
  void missingStoreIsNamed() {
    final Path missing = folder.resolve("missing.p12");
    assertThatThrownBy(() -> get(RegistryTls.of(store("schema.registry.", missing))))
        .isInstanceOf(RegistryException.class)
        .hasMessageContaining("the TLS options of the schema registry cannot be used")
        .hasMessageContaining(missing.toString());
  }

  @Test
  void optionsOfTheRegistryTakePrecedenceAndAreNotShown() {
    final RegistryTls tls =
        RegistryTls.of(
            Map.of("ssl.protocol", "TLSv1.2", "schema.registry.ssl.protocol", "TLSv1.3"));
    assertThat(tls.options()).isEqualTo(Map.of("ssl.protocol", "TLSv1.3"));
    assertThat(tls).hasToString("TLS with own stores");
    assertThat(RegistryTls.of(Map.of("sslx", "1"))).isSameAs(RegistryTls.NONE);
  }
}
