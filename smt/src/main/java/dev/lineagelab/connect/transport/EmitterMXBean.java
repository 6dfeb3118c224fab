// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

/** JMX attributes of an emitter. */
public interface EmitterMXBean {
  /** Events accepted by the destination. */
  long getSent();

  /** Events dropped: the queue was full, their retry timeout passed, or they were rejected. */
  long getDropped();

  /** Events in the queue. */
  int getQueued();

  /** Failed attempts that were retried. */
  long getRetries();

  /** Duration of the last successful attempt in milliseconds. */
  double getLastLatencyMs();

  /** Duration of the slowest successful attempt in milliseconds. */
  double getMaxLatencyMs();

  /** Destination of the events. */
  String getTarget();

  /** Message of the last error; empty if there was none. */
  String getLastError();
}
