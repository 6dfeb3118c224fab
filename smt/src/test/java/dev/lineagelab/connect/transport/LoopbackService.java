// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Function;
import java.util.zip.GZIPInputStream;

/** Lineage service on loopback with configurable response status. */
final class LoopbackService implements AutoCloseable {
  /** Received request, decompressed. */
  record Request(String path, String body, String authorization, String key) {}

  /** Status for no response: the connection stays open. */
  static final int HANG = -1;

  final List<Request> requests = new CopyOnWriteArrayList<>();
  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final CountDownLatch end = new CountDownLatch(1);
  private volatile Function<Request, Integer> behaviour = request -> 201;

  LoopbackService() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::handle);
    server.setExecutor(threads);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Set the response status of each request. */
  void respondWith(final Function<Request, Integer> status) {
    behaviour = status;
  }

  List<String> bodies() {
    final List<String> bodies = new ArrayList<>();
    requests.forEach(request -> bodies.add(request.body()));
    return bodies;
  }

  private void handle(final HttpExchange exchange) throws IOException {
    final boolean isGzipped =
        "gzip".equals(exchange.getRequestHeaders().getFirst("Content-Encoding"));
    final byte[] sent = exchange.getRequestBody().readAllBytes();
    final byte[] bytes =
        isGzipped ? new GZIPInputStream(new ByteArrayInputStream(sent)).readAllBytes() : sent;
    final Request request =
        new Request(
            exchange.getRequestURI().getPath(),
            new String(bytes, StandardCharsets.UTF_8),
            exchange.getRequestHeaders().getFirst("Authorization"),
            exchange.getRequestHeaders().getFirst("X-API-Key"));
    final int status = behaviour.apply(request);
    requests.add(request);
    if (status == HANG) {
      try {
        end.await();
      } catch (final InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    } else {
      final byte[] answer = "<html>not even JSON".getBytes(StandardCharsets.UTF_8);
      exchange.sendResponseHeaders(status, answer.length);
      exchange.getResponseBody().write(answer);
    }
    exchange.close();
  }

  @Override
  public void close() {
    end.countDown();
    server.stop(0);
    threads.shutdownNow();
  }
}
