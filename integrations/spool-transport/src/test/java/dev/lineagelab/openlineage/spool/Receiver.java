// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.openlineage.spool;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.ToIntFunction;

/** Lineage service on loopback that can be stopped, and that answers as a test says. */
final class Receiver implements AutoCloseable {
  private final int port = freePort();
  private final List<String> accepted = new ArrayList<>();
  private volatile ToIntFunction<String> status = body -> 201;
  private HttpServer server;
  private ExecutorService threads;

  String url() {
    return "http://127.0.0.1:" + port;
  }

  /** Sets the status of the answer to an event. */
  void answer(ToIntFunction<String> statusOfBody) {
    this.status = statusOfBody;
  }

  void start() throws IOException {
    threads = Executors.newCachedThreadPool();
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
    server.setExecutor(threads);
    server.createContext("/", this::respond);
    server.start();
  }

  synchronized List<String> accepted() {
    return List.copyOf(accepted);
  }

  private void respond(HttpExchange exchange) throws IOException {
    try (exchange) {
      String body = new String(exchange.getRequestBody().readAllBytes(), UTF_8);
      int answer = status.applyAsInt(body);
      synchronized (this) {
        if (answer == 201) {
          accepted.add(body);
        }
      }
      exchange.sendResponseHeaders(answer, -1);
    }
  }

  @Override
  public void close() {
    if (server != null) {
      server.stop(0);
      threads.shutdownNow();
      server = null;
    }
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    } catch (IOException error) {
      throw new IllegalStateException(error);
    }
  }
}
