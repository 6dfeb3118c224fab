// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.events;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** URLs of the JSON schemas of events and facets. */
final class FacetSchemas {
  private static final String SPEC = "https://openlineage.io/spec/";
  private static final String FACETS = SPEC + "facets/";
  private static final String CORE = SPEC + "2-0-2/OpenLineage.json#/$defs/";

  static final String RUN_EVENT = CORE + "RunEvent";
  static final String RUN_FACET = CORE + "RunFacet";
  static final String DATASET_FACET = CORE + "DatasetFacet";
  static final String SCHEMA = FACETS + "1-2-0/SchemaDatasetFacet.json#/$defs/SchemaDatasetFacet";
  static final String COLUMN_LINEAGE =
      FACETS + "1-2-0/ColumnLineageDatasetFacet.json#/$defs/ColumnLineageDatasetFacet";
  static final String LINEAGE = FACETS + "1-0-0/LineageFacet.json#/$defs/LineageJobFacet";
  static final String JOB_TYPE = FACETS + "2-0-4/JobTypeJobFacet.json#/$defs/JobTypeJobFacet";
  static final String SYMLINKS =
      FACETS + "1-0-1/SymlinksDatasetFacet.json#/$defs/SymlinksDatasetFacet";
  static final String VERSION =
      FACETS + "1-0-1/DatasetVersionDatasetFacet.json#/$defs/DatasetVersionDatasetFacet";
  static final String INPUT_STATISTICS =
      FACETS
          + "1-0-0/InputStatisticsInputDatasetFacet.json#/$defs/InputStatisticsInputDatasetFacet";
  static final String OUTPUT_STATISTICS =
      FACETS
          + "1-0-2/OutputStatisticsOutputDatasetFacet.json#/$defs/OutputStatisticsOutputDatasetFacet";
  static final String ERROR_MESSAGE =
      FACETS + "1-0-1/ErrorMessageRunFacet.json#/$defs/ErrorMessageRunFacet";
  static final String PROCESSING_ENGINE =
      FACETS + "1-1-1/ProcessingEngineRunFacet.json#/$defs/ProcessingEngineRunFacet";

  static final String QUEUE = "urn:lineage-lab:schemas:EmitterQueueRunFacet:1";

  private FacetSchemas() {}

  /** Add a facet with the fields that every facet requires. */
  static ObjectNode facet(final ObjectNode facets, final String name, final String schema) {
    final ObjectNode facet = facets.putObject(name);
    facet.put("_producer", Producer.URI);
    facet.put("_schemaURL", schema);
    return facet;
  }
}
