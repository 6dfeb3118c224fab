// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.events;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.Dataset;

/** Facets of the job. */
final class JobFacets {
  private JobFacets() {}

  static void add(final ObjectNode facets, final RunEvent event) {
    final ObjectNode type = Schemas.facet(facets, "jobType", Schemas.JOB_TYPE);
    type.put("processingType", "STREAMING");
    type.put("integration", "KAFKA_CONNECT");
    type.put("jobType", "CONNECTOR");
    type.putObject("emissionPattern")
        .put("eventTrigger", "PERIODIC")
        .put("eventContentMode", "COMPLETE_SNAPSHOT")
        .put("windowDuration", Math.max(1, event.window().toSeconds()));
    addLineage(facets, event.description());
  }

  /** Without it, two inputs and two outputs read as four edges. */
  private static void addLineage(final ObjectNode facets, final ConnectorLineage description) {
    if (description.pairs().size() < 2) {
      return;
    }
    final ArrayNode entries = Schemas.facet(facets, "lineage", Schemas.LINEAGE).putArray("entries");
    for (final Dataset output : description.outputs()) {
      ColumnFacets.addEntry(entries, description, output);
    }
  }
}
