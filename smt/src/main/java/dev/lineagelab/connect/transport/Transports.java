// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

import dev.lineagelab.connect.settings.TransportSettings;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;

/** Factory of transports. */
public final class Transports {
  private Transports() {}

  /**
   * Create the configured transport.
   *
   * @throws IllegalArgumentException a setting is not usable, such as a keystore that cannot be
   *     read
   */
  public static Transport of(final TransportSettings settings) {
    return switch (settings.kind()) {
      case HTTP -> new HttpTransport(settings.http());
      case KAFKA -> new KafkaTransport(settings.kafka());
      case OPENLINEAGE -> openLineage(settings.config());
      case FILE -> new FileTransport(Path.of(settings.file()));
      case NONE -> new NoOpTransport();
    };
  }

  private static Transport openLineage(final String config) {
    try {
      return new OpenLineageTransport(config);
    } catch (final LinkageError e) {
      throw new IllegalArgumentException(
          "OpenLineage's client is not in the plugin's folder: " + e, e);
    }
  }

  /** Transport that rejects every event for {@code reason}, so that it is counted as dropped. */
  public static Transport rejecting(final String reason) {
    return new RejectingTransport(reason);
  }

  private record NoOpTransport() implements Transport {
    @Override
    public SendResult send(final List<OutgoingEvent> events) {
      return new SendResult(events.size(), List.of());
    }

    @Override
    public void close() {
      // There is nothing to close.
    }
  }

  private record RejectingTransport(String reason) implements Transport {
    @Override
    public SendResult send(final List<OutgoingEvent> events) {
      return new SendResult(0, Collections.nCopies(events.size(), reason));
    }

    @Override
    public void close() {
      // There is nothing to close.
    }
  }
}
