// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

import java.util.concurrent.atomic.AtomicLong;

/** Counters and latencies of an emitter. Read by any thread. */
final class EmitterMetrics {
  private static final double NANOS_PER_MS = 1e6;

  private final AtomicLong sent = new AtomicLong();
  private final AtomicLong dropped = new AtomicLong();
  private final AtomicLong retries = new AtomicLong();
  private volatile double lastLatencyMs;
  private volatile double maxLatencyMs;
  private volatile String lastError = "";

  void sent(final int events, final long nanos) {
    sent.addAndGet(events);
    lastLatencyMs = nanos / NANOS_PER_MS;
    maxLatencyMs = Math.max(maxLatencyMs, lastLatencyMs);
  }

  /** Count dropped events; return whether they are the first. */
  boolean dropped(final int events, final String reason) {
    lastError = reason;
    return dropped.getAndAdd(events) == 0;
  }

  void retried(final String reason) {
    retries.incrementAndGet();
    lastError = reason;
  }

  long sent() {
    return sent.get();
  }

  long dropped() {
    return dropped.get();
  }

  long retries() {
    return retries.get();
  }

  double lastLatencyMs() {
    return lastLatencyMs;
  }

  double maxLatencyMs() {
    return maxLatencyMs;
  }

  String lastError() {
    return lastError;
  }
}
