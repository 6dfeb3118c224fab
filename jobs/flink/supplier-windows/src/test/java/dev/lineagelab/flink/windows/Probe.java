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

/** Where a job's two ends and its test meet: Flink copies sources and sinks, but finds this one. */
final class Probe {
  private static final long PATIENCE_SECONDS = 180;
  private static final Map<String, Probe> ALL = new ConcurrentHashMap<>();

  final String id = UUID.randomUUID().toString();
  private final List<SupplierWindow> told = new ArrayList<>();
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

  synchronized void tell(final SupplierWindow window) {
    told.add(window);
    changed();
  }

  synchronized void pass(final long time) {
    watermark = Math.max(watermark, time);
    changed();
  }

  /** Lets sources go on that wait for the test. */
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

  synchronized List<SupplierWindow> told() {
    return List.copyOf(told);
  }

  /** What was told, for a probe that is used again. */
  synchronized List<SupplierWindow> takeAll() {
    final List<SupplierWindow> all = List.copyOf(told);
    told.clear();
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
      next.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }
  }

  private void changed() {
    final CompletableFuture<Void> done = change;
    change = new CompletableFuture<>();
    done.complete(null);
  }
}
