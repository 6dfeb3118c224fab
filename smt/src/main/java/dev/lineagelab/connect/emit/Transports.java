// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.emit;

import dev.lineagelab.connect.settings.TransportSettings;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;

/** Makes transports. */
public final class Transports {
  private Transports() {}

  /**
   * The transport that settings ask for.
   *
   * @throws IllegalArgumentException a keystore, say, cannot be read
   */
  public static Transport of(final TransportSettings settings) {
    return switch (settings.kind()) {
      case HTTP -> new HttpTransport(settings.http());
      case KAFKA -> new KafkaTransport(settings.kafka());
      case FILE -> new FileTransport(Path.of(settings.file()));
      case NONE -> new NoTransport(null);
    };
  }

  /** A transport for what cannot be sent, so that it is counted. */
  public static Transport refusing(final String why) {
    return new NoTransport(why);
  }

  /** Sends nothing; where there is a reason, that counts as loss. */
  private record NoTransport(String why) implements Transport {
    @Override
    public Sent send(final List<OutgoingEvent> events) {
      return why == null
          ? new Sent(events.size(), List.of())
          : new Sent(0, Collections.nCopies(events.size(), why));
    }

    @Override
    public void close() {
      // Holds nothing.
    }
  }
}
