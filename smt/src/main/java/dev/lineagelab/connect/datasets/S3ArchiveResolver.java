// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.SinkConversions;
import dev.lineagelab.connect.columns.SymbolicRecord;
import java.util.List;
import java.util.Set;

/**
 * S3 archive sink of the lab: one folder per topic, named before any routing, as object names have
 * the record's offsets; each line holds the value of a record.
 */
public final class S3ArchiveResolver implements DatasetResolver {
  private static final String CONNECTOR = "dev.lineagelab.archive.S3ArchiveSinkConnector";

  @Override
  public boolean supports(final String connectorClass) {
    return ConnectorClassNames.matchesAny(List.of(CONNECTOR), connectorClass);
  }

  @Override
  public Resolution<SinkTarget> sinkTargets(
      final ConnectorContext connector, final String originalTopic, final SymbolicRecord record) {
    final ConnectorOptions options = connector.options();
    final String folder =
        options.has("topics.dir") ? options.text("topics.dir").orElse("") : "topics";
    final String name = folder.isEmpty() ? originalTopic : folder + "/" + originalTopic;
    return Resolution.of(
        List.of(
            new SinkTarget(
                connector.dataset("s3://" + options.required("s3.bucket.name"), name),
                List.of(),
                SinkConversions.convertTypes(record.value(), StoreTypeMappings.JSON),
                true,
                Set.of(),
                null)));
  }
}
