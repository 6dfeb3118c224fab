// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.LongSupplier;

/** Configurations of connectors, requested from the worker when they may have changed. */
final class ConfigCache {
  /**
   * Milliseconds after a change in which the worker may still return the configuration before it.
   */
  private static final long SETTLE_MS = 10_000;

  /** Milliseconds after which a configuration is requested in any case. */
  private static final long MAX_AGE_MS = 60_000;

  private record Entry(Map<String, String> config, long readAt) {}

  private final DeletionDetector changes;
  private final Function<String, Map<String, String>> source;
  private final LongSupplier clock;
  private final Map<String, Entry> entries = new HashMap<>();
  private final Map<String, Long> changedAt = new HashMap<>();

  /**
   * Create an empty cache.
   *
   * @param source returns the configuration of a connector; null if there is none
   * @param clock in milliseconds
   */
  ConfigCache(
      final DeletionDetector changes,
      final Function<String, Map<String, String>> source,
      final LongSupplier clock) {
    this.changes = changes;
    this.source = source;
    this.clock = clock;
  }

  /** Apply the changes since the last call, and forget connectors that no longer exist. */
  void update(final Collection<String> connectors) {
    final long now = clock.getAsLong();
    changes.takeChanged().forEach(connector -> changedAt.put(connector, now));
    changedAt.values().removeIf(time -> now - time > SETTLE_MS);
    entries.keySet().retainAll(connectors);
  }

  /** Return the configuration of a connector; null if there is none. */
  Map<String, String> get(final String connector) {
    final Entry known = entries.get(connector);
    final long now = clock.getAsLong();
    if (known != null
        && changes.isReading()
        && !changedAt.containsKey(connector)
        && now - known.readAt() < MAX_AGE_MS) {
      return known.config();
    }
    final Map<String, String> config = source.apply(connector);
    if (config == null) {
      entries.remove(connector);
    } else {
      entries.put(connector, new Entry(config, now));
    }
    return config;
  }
}
