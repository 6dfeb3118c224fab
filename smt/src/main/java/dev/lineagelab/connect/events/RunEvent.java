// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.events;

import dev.lineagelab.connect.metrics.RecordCounts;
import dev.lineagelab.connect.runs.DueEvent;
import java.util.UUID;

/**
 * Content of an OpenLineage run event.
 *
 * @param due type, time and reason of the event
 * @param counts records processed since the event before; null if unknown
 */
public record RunEvent(DueEvent due, UUID runId, LineageSnapshot snapshot, RecordCounts counts) {
  /** Name of the connector, which is the name of the job. */
  public String connectorName() {
    return snapshot.connector().name();
  }

  /** Namespace of the job. */
  public String jobNamespace() {
    return snapshot.settings().jobNamespace();
  }
}
