// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.emit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** Adds events to a file, one to a line. */
final class FileTransport implements Transport {
  private final Path file;

  FileTransport(final Path file) {
    this.file = file;
  }

  @Override
  public Sent send(final List<OutgoingEvent> events) throws TransportException {
    final StringBuilder lines = new StringBuilder();
    events.forEach(event -> lines.append(event.json()).append('\n'));
    try {
      Files.writeString(file, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (final IOException e) {
      throw new TransportException("Cannot write to " + file + ": " + e, e);
    }
    return new Sent(events.size(), List.of());
  }

  @Override
  public void close() {
    // Each write opens and closes the file.
  }
}
