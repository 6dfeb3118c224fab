// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** HTTP server with the API of schema registries and configurable failures. */
final class LoopbackRegistry implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Response to each request. */
  enum ResponseMode {
    ANSWER,
    HANG,
    TRICKLE,
    FAIL,
    GARBAGE,
    HUGE,
    REDIRECT
  }

  /** Received request. */
  record Request(String path, String authorization) {}

  final List<Request> requests = new CopyOnWriteArrayList<>();
  final Map<String, String> answers = new ConcurrentHashMap<>();
  volatile ResponseMode mode = ResponseMode.ANSWER;
  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final CountDownLatch end = new CountDownLatch(1);

  LoopbackRegistry() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::handle);
    server.setExecutor(threads);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Register versions of a subject in Confluent's API; schema ids are version + 100. */
  void confluent(final String subject, final String... schemas) {
    final ArrayNode versions = JSON.createArrayNode();
    for (int version = 1; version <= schemas.length; version++) {
      final ObjectNode content = JSON.createObjectNode();
      content.put("subject", subject).put("version", version).put("id", 100 + version);
      content.put("schema", schemas[version - 1]);
      answers.put("/subjects/" + subject + "/versions/" + version, content.toString());
      versions.add(version);
    }
    answers.put("/subjects/" + subject + "/versions", versions.toString());
  }

  private void handle(final HttpExchange exchange) throws IOException {
    final String path = exchange.getRequestURI().getRawPath();
    requests.add(new Request(path, exchange.getRequestHeaders().getFirst("Authorization")));
    try {
      switch (mode) {
        case ANSWER -> answer(exchange, answers.containsKey(path) ? 200 : 404, answers.get(path));
        case HANG -> end.await();
        case TRICKLE -> trickle(exchange);
        case FAIL -> answer(exchange, 500, "{}");
        case GARBAGE -> answer(exchange, 200, "<html>no JSON");
        case HUGE -> answer(exchange, 200, "[" + " ".repeat(RegistryHttp.MAX_BYTES) + "1]");
        case REDIRECT -> {
          exchange.getResponseHeaders().set("Location", path);
          answer(exchange, 302, "");
        }
        default -> throw new IllegalStateException(mode.toString());
      }
    } catch (final InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      exchange.close();
    }
  }

  private static void answer(final HttpExchange exchange, final int status, final String text)
      throws IOException {
    final byte[] bytes = (text == null ? "{}" : text).getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    if (bytes.length > 0) {
      exchange.getResponseBody().write(bytes);
    }
  }

  /** Send the headers and the start of a body that never ends. */
  private void trickle(final HttpExchange exchange) throws IOException, InterruptedException {
    exchange.sendResponseHeaders(200, 0);
    final OutputStream body = exchange.getResponseBody();
    body.write('[');
    body.flush();
    end.await();
  }

  @Override
  public void close() {
    end.countDown();
    server.stop(0);
    threads.shutdownNow();
  }
}
