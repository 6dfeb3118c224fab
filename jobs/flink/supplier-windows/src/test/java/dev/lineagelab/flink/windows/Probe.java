// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Shared state of a test and its job's source and sink. Flink serializes sources and sinks, which
 * therefore look up the probe by id.
 */
final class Probe {
  private static final long TIMEOUT_SECONDS = 180;
  private static final Map<String, Probe> ALL = new ConcurrentHashMap<>();

  final String id = UUID.randomUUID().toString();
  private final List<SupplierWindow> windows = new ArrayList<>();
  private long watermark = Long.MIN_VALUE;
  private boolean released;
  private boolean failed;
  private CompletableFuture<Void> change = new CompletableFuture<>();

  Probe() {
    ALL.put(id, this);
  }

  static Probe of(final String id) {
    return ALL.get(id);
  }

  synchronized void add(final SupplierWindow window) {
    windows.add(window);
    changed();
  }

  synchronized void advanceWatermark(final long time) {
    watermark = Math.max(watermark, time);
    changed();
  }

  /** Releases sources that wait at a {@link Step.Release}. */
  synchronized void release() {
    released = true;
    changed();
  }

  synchronized boolean isReleased() {
    return released;
  }

  synchronized boolean isFirstFailure() {
    final boolean first = !failed;
    failed = true;
    return first;
  }

  synchronized boolean hasPassed(final long time) {
    return watermark >= time;
  }

  synchronized List<SupplierWindow> windows() {
    return List.copyOf(windows);
  }

  /** Returns and removes the collected windows, so that the probe can be reused. */
  synchronized List<SupplierWindow> drain() {
    final List<SupplierWindow> all = List.copyOf(windows);
    windows.clear();
    return all;
  }

  synchronized CompletableFuture<Void> nextChange() {
    return change;
  }

  void await(final BooleanSupplier condition) throws Exception {
    while (true) {
      final CompletableFuture<Void> next = nextChange();
      if (condition.getAsBoolean()) {
        return;
      }
      next.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    }
  }

  private void changed() {
    final CompletableFuture<Void> done = change;
    change = new CompletableFuture<>();
    done.complete(null);
  }
}
