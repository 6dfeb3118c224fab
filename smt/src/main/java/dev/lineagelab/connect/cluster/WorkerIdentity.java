// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import dev.lineagelab.connect.runs.ConnectorStatus;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Id of this worker in connector states. It is derived from the worker's properties, and corrected
 * where Connect publishes metrics in JMX: only the owner of a connector has its metrics.
 */
final class WorkerIdentity {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerIdentity.class);

  /** Polls after which a status no longer names the owner from before a rebalance. */
  private static final int POLLS = 20;

  private record Candidate(String id, int polls) {}

  private final Map<String, Candidate> candidates = new HashMap<>();
  private String id;

  WorkerIdentity(final String derived) {
    this.id = derived;
  }

  String id() {
    return id;
  }

  /**
   * Compare the id with the status of a connector.
   *
   * @param isOwner whether this worker has the metrics of the connector
   */
  void observe(final String connector, final ConnectorStatus status, final boolean isOwner) {
    final String other = status.worker();
    if (!isOwner || other == null || other.equals(id) || !"RUNNING".equals(status.state())) {
      candidates.remove(connector);
      return;
    }
    final Candidate last = candidates.get(connector);
    final int polls = last != null && last.id().equals(other) ? last.polls() + 1 : 1;
    candidates.put(connector, new Candidate(other, polls));
    if (polls >= POLLS) {
      LOG.info("Connect knows this worker as {}, its properties as {}", other, id);
      id = other;
      candidates.clear();
    }
  }
}
