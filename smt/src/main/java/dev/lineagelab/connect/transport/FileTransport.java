// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** Appends events to a file, one per line. */
final class FileTransport implements Transport {
  private final Path file;

  FileTransport(final Path file) {
    this.file = file;
  }

  @Override
  public SendResult send(final List<OutgoingEvent> events) throws TransportException {
    final StringBuilder lines = new StringBuilder();
    events.forEach(event -> lines.append(event.json()).append('\n'));
    try {
      Files.writeString(file, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (final IOException e) {
      throw new TransportException("cannot write to " + file + ": " + e, e);
    }
    return new SendResult(events.size(), List.of());
  }

  @Override
  public void close() {
    // Each write opens and closes the file.
  }
}
