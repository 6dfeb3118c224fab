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
    final ObjectNode type = FacetSchemas.facet(facets, "jobType", FacetSchemas.JOB_TYPE);
    type.put("processingType", "STREAMING");
    type.put("integration", "KAFKA_CONNECT");
    type.put("jobType", "CONNECTOR");
    type.putObject("emissionPattern")
        .put("eventTrigger", "PERIODIC")
        .put("eventContentMode", "COMPLETE_SNAPSHOT")
        .put(
            "windowDuration", Math.max(1, event.snapshot().settings().eventInterval().toSeconds()));
    addLineage(facets, event.snapshot().lineage());
  }

  /** Add the pairs. Without this facet, consumers connect every input with every output. */
  private static void addLineage(final ObjectNode facets, final ConnectorLineage lineage) {
    if (lineage.outputs().isEmpty()) {
      return;
    }
    final ArrayNode entries =
        FacetSchemas.facet(facets, "lineage", FacetSchemas.LINEAGE).putArray("entries");
    for (final Dataset output : lineage.outputs()) {
      ColumnFacets.addEntry(entries, lineage, output);
    }
  }
}
