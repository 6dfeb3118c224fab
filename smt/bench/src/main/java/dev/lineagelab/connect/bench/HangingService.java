// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;

/** A lineage service that takes connections, by way of the system's backlog, and never answers. */
final class HangingService implements AutoCloseable {
  private final ServerSocket socket;

  /**
   * Listens on a free port of the loopback address.
   *
   * @throws IOException there is none
   */
  HangingService() throws IOException {
    socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  }

  String url() {
    return "http://127.0.0.1:" + socket.getLocalPort();
  }

  /**
   * Whether anybody has connected so far.
   *
   * @throws IOException the socket is closed
   */
  boolean isAsked() throws IOException {
    socket.setSoTimeout(1);
    try (Socket connection = socket.accept()) {
      return connection.isConnected();
    } catch (final SocketTimeoutException e) {
      return false;
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
