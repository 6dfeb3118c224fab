// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.emit.Emitter;
import dev.lineagelab.connect.emit.Transport;
import dev.lineagelab.connect.emit.Transports;
import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.settings.TransportSettings;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One emitter for each place that events go to. */
final class Emitters implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Emitters.class);

  private final Map<TransportSettings, Emitter> emitters = new HashMap<>();

  /** The emitter that settings ask for. */
  Emitter of(final PluginSettings settings) {
    return emitters.computeIfAbsent(settings.transport(), transport -> open(settings));
  }

  private static Emitter open(final PluginSettings settings) {
    final TransportSettings transport = settings.transport();
    LOG.info("Lineage events go to {}", transport);
    return new Emitter(transport(transport), settings.queue(), transport.toString());
  }

  private static Transport transport(final TransportSettings settings) {
    try {
      return Transports.of(settings);
    } catch (final IllegalArgumentException e) {
      LOG.error("Lineage events cannot go to {}; they are dropped. {}", settings, e.getMessage());
      return Transports.refusing(e.getMessage());
    }
  }

  /** Lets all send what waits, at the same time: each has its own limit. */
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
