// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import dev.lineagelab.connect.metrics.RecordCounts;
import java.util.HashMap;
import java.util.Map;

/**
 * Records that the tasks on one worker have processed, by connector.
 *
 * @param time when they were written, in milliseconds since the epoch
 */
record WorkerCounts(long time, Map<String, RecordCounts> byConnector) {
  /** Age after which a worker that still runs writes its counts again. */
  private static final long REWRITE_MS = 600_000;

  /** Age after which the counts are those of a worker that no longer exists. */
  private static final long EXPIRY_MS = 6 * REWRITE_MS;

  WorkerCounts {
    byConnector = Map.copyOf(byConnector);
  }

  boolean isDueAfter(final WorkerCounts written) {
    return !byConnector.equals(written.byConnector) || time - written.time > REWRITE_MS;
  }

  boolean isExpired(final long now) {
    return now - time > EXPIRY_MS;
  }

  RecordCounts of(final String connector) {
    return byConnector.getOrDefault(connector, RecordCounts.NONE);
  }

  WorkerCounts without(final String connector) {
    final Map<String, RecordCounts> others = new HashMap<>(byConnector);
    others.remove(connector);
    return new WorkerCounts(time, others);
  }
}
