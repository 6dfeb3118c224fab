// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.openlineage.spool;

import io.openlineage.client.OpenLineage;
import io.openlineage.client.OpenLineage.RunEvent;
import io.openlineage.client.OpenLineage.RunEvent.EventType;
import java.net.URI;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.UUID;

/** Run events whose job has the name that a test gives. */
final class Events {
  static final OpenLineage OPEN_LINEAGE = new OpenLineage(URI.create("urn:test"));

  private Events() {}

  static RunEvent event(EventType type, String job) {
    return event(type, job, OPEN_LINEAGE.newRunFacetsBuilder().build());
  }

  static RunEvent event(EventType type, String job, OpenLineage.RunFacets facets) {
    var columns =
        OPEN_LINEAGE.newColumnLineageDatasetFacet(
            OPEN_LINEAGE
                .newColumnLineageDatasetFacetFieldsBuilder()
                .put(
                    "total",
                    OPEN_LINEAGE
                        .newColumnLineageDatasetFacetFieldsAdditionalBuilder()
                        .inputFields(
                            List.of(
                                OPEN_LINEAGE
                                    .newInputFieldBuilder()
                                    .namespace("kafka://k")
                                    .name("orders")
                                    .field("price")
                                    .build()))
                        .build())
                .build(),
            List.of());
    return OPEN_LINEAGE
        .newRunEventBuilder()
        .eventTime(ZonedDateTime.of(2026, 1, 2, 3, 4, 5, 123_456_000, ZoneOffset.UTC))
        .eventType(type)
        .run(OPEN_LINEAGE.newRun(new UUID(1, 2), facets))
        .job(OPEN_LINEAGE.newJobBuilder().namespace("lab").name(job).build())
        .inputs(
            List.of(
                OPEN_LINEAGE
                    .newInputDatasetBuilder()
                    .namespace("kafka://k")
                    .name("orders")
                    .build()))
        .outputs(
            List.of(
                OPEN_LINEAGE
                    .newOutputDatasetBuilder()
                    .namespace("s3://lake")
                    .name("totals")
                    .facets(OPEN_LINEAGE.newDatasetFacetsBuilder().columnLineage(columns).build())
                    .outputFacets(
                        OPEN_LINEAGE
                            .newOutputDatasetOutputFacetsBuilder()
                            .outputStatistics(
                                OPEN_LINEAGE.newOutputStatisticsOutputDatasetFacet(5L, 7L, 1L))
                            .build())
                    .build()))
        .build();
  }
}
