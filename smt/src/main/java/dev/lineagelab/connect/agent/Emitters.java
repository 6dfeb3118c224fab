// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.settings.TransportSettings;
import dev.lineagelab.connect.transport.Emitter;
import dev.lineagelab.connect.transport.Transport;
import dev.lineagelab.connect.transport.Transports;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One emitter per destination. */
final class Emitters implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Emitters.class);

  private final Map<TransportSettings, Emitter> emitters = new HashMap<>();

  /** Emitter of the configured destination, created on first use. */
  Emitter of(final PluginSettings settings) {
    return emitters.computeIfAbsent(settings.transport(), transport -> open(settings));
  }

  private static Emitter open(final PluginSettings settings) {
    final TransportSettings transport = settings.transport();
    LOG.info("Sending lineage events to {}", transport);
    return new Emitter(transport(transport), settings.queue(), transport.toString());
  }

  private static Transport transport(final TransportSettings settings) {
    try {
      return Transports.of(settings);
    } catch (final IllegalArgumentException e) {
      LOG.error("Cannot send lineage events to {}, dropping them: {}", settings, e.getMessage());
      return Transports.rejecting(e.getMessage());
    }
  }

  /** Close all emitters in parallel, each within its own shutdown timeout. */
  @Override
  public void close() {
    final List<Thread> closing = new ArrayList<>();
    for (final Emitter emitter : emitters.values()) {
      final Thread thread = new Thread(emitter::close, "connect-lineage-close");
      thread.setDaemon(true);
      thread.start();
      closing.add(thread);
    }
    for (final Thread thread : closing) {
      try {
        thread.join();
      } catch (final InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
