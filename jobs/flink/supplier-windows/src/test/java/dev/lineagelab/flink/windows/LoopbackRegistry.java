// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** Fake schema registry on loopback that serves schemas by id. */
final class LoopbackRegistry implements AutoCloseable {
  final AtomicInteger requests = new AtomicInteger();
  private final Map<Integer, String> schemas = new HashMap<>();
  private final HttpServer server;
  private int failure;

  LoopbackRegistry() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.createContext("/", this::answer);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  void add(final int id, final String schema) {
    schemas.put(id, "{\"schema\": \"" + schema.replace("\"", "\\\"") + "\"}");
  }

  /** Makes all responses fail with an HTTP status; 0 restores normal responses. */
  void failWith(final int status) {
    failure = status;
  }

  @Override
  public void close() {
    server.stop(0);
  }

  private void answer(final HttpExchange exchange) throws IOException {
    try (exchange) {
      requests.incrementAndGet();
      final String path = exchange.getRequestURI().getPath();
      final String schema = schemas.get(Integer.valueOf(path.substring(path.lastIndexOf('/') + 1)));
      if (failure != 0) {
        send(exchange, failure, "<html>");
      } else if (schema == null) {
        send(exchange, 404, "{\"error_code\": 40403, \"message\": \"Schema not found\"}");
      } else {
        send(exchange, 200, schema);
      }
    }
  }

  private static void send(final HttpExchange exchange, final int status, final String body)
      throws IOException {
    final byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }
}
