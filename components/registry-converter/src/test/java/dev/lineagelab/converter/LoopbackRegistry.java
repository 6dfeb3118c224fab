// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.converter;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Fake schema registry with the parts of Apicurio's API version 2 and of Confluent's API that a
 * converter uses. It keeps its port while it is stopped.
 */
final class LoopbackRegistry implements AutoCloseable {
  static final int ID = 7;
  private static final String SCHEMA =
      """
      {"type": "record", "name": "V", "fields": [{"name": "item", "type": "string"}]}""";
  private static final String METADATA =
      """
      {"id": "orders-value", "name": "V", "type": "AVRO", "version": "1", "state": "ENABLED",
       "globalId": 1, "contentId": %d}"""
          .formatted(ID);

  private final List<String> registrations = new CopyOnWriteArrayList<>();
  private HttpServer server;
  private int port;
  private Response override;

  /** Response that overrides the regular ones. */
  @FunctionalInterface
  interface Response {
    void send(HttpExchange exchange) throws IOException;
  }

  LoopbackRegistry() {
    start();
  }

  String url() {
    return "http://127.0.0.1:" + port + "/apis/registry/v2";
  }

  String confluentUrl() {
    return "http://127.0.0.1:" + port + "/confluent";
  }

  /** Return path and body of each registration of a schema through Confluent's API. */
  List<String> registrations() {
    return registrations;
  }

  void start() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    port = server.getAddress().getPort();
    server.createContext("/", this::handle);
    server.start();
  }

  void stop() {
    server.stop(0);
  }

  void respondNormally() {
    override = null;
  }

  void respondWith(final int status, final String body) {
    override = exchange -> send(exchange, status, body);
  }

  void respondWith(final Response response) {
    override = response;
  }

  private void handle(final HttpExchange exchange) throws IOException {
    try (exchange) {
      final byte[] body = exchange.getRequestBody().readAllBytes();
      final String path = exchange.getRequestURI().getPath();
      if (override != null) {
        override.send(exchange);
      } else if (path.equals("/confluent/schemas/ids/" + ID)) {
        send(exchange, 200, "{\"schema\": \"" + SCHEMA.strip().replace("\"", "\\\"") + "\"}");
      } else if (path.startsWith("/confluent/subjects/")) {
        registrations.add(path + " " + new String(body, StandardCharsets.UTF_8));
        send(exchange, 200, "{\"id\": " + ID + "}");
      } else if (path.endsWith("/references")) {
        send(exchange, 200, "[]");
      } else if (path.contains("/ids/contentIds/" + ID)) {
        send(exchange, 200, SCHEMA);
      } else if (exchange.getRequestMethod().equals("POST") && path.endsWith("/artifacts")) {
        send(exchange, 200, METADATA);
      } else {
        send(exchange, 404, error(404, "ContentNotFoundException", "No content with id " + path));
      }
    }
  }

  static String error(final int code, final String name, final String message) {
    return """
        {"error_code": %d, "name": "%s", "message": "%s"}"""
        .formatted(code, name, message);
  }

  private static void send(final HttpExchange exchange, final int status, final String body)
      throws IOException {
    final byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  @Override
  public void close() {
    stop();
  }
}
