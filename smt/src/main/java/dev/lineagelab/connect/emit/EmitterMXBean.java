// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.emit;

/** What JMX shows of an emitter. */
public interface EmitterMXBean {
  /** Events that have arrived. */
  long getSent();

  /** Events that were given up: the queue was full, they were too old, or refused for good. */
  long getDropped();

  /** Events that wait. */
  int getQueued();

  /** Attempts that failed and were repeated. */
  long getRetries();

  /** Milliseconds that the last successful attempt took. */
  double getLastLatencyMs();

  /** Milliseconds that the slowest successful attempt took. */
  double getMaxLatencyMs();

  /** Where events go. */
  String getTarget();

  /** What went wrong last; empty if nothing has. */
  String getLastError();
}
