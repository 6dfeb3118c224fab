// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;

/** Lineage service that accepts connections, in the listen backlog, and never responds. */
final class HangingService implements AutoCloseable {
  private final ServerSocket socket;

  /**
   * Listen on a free port of loopback.
   *
   * @throws IOException no port is free
   */
  HangingService() throws IOException {
    socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  }

  String url() {
    return "http://127.0.0.1:" + socket.getLocalPort();
  }

  /**
   * Return whether a client has connected so far.
   *
   * @throws IOException the socket is closed
   */
  boolean hasConnection() throws IOException {
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
