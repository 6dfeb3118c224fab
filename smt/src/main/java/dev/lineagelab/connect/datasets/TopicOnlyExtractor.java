// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.SchemaFields;
import dev.lineagelab.connect.columns.SchemaRefinement;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.model.ColumnLineage;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.ObservedTopic;
import java.util.List;
import java.util.Set;

/**
 * Lineage of a connector whose configuration is unknown: the topics that a sink read, or the topics
 * of a source's records at the transform's place, with the schemas observed there. These are right
 * if the transform is the first one of a sink, or the last one of a source.
 */
final class TopicOnlyExtractor {
  static final String UNKNOWN_CONFIG =
      "The connector's configuration is unknown: the REST extension is not installed.";

  private TopicOnlyExtractor() {}

  static void extract(
      final ConnectorContext connector,
      final List<ObservedTopic> seen,
      final DeclaredDatasets declared,
      final ConnectorLineageBuilder result) {
    result.addNote(UNKNOWN_CONFIG);
    final boolean isSink = connector.definition().type() == ConnectorType.SINK;
    for (final ObservedTopic topic : seen) {
      final Dataset kafka = connector.topic(topic.topic());
      if (isSink) {
        result.addInput(kafka);
      } else {
        result.addOutput(kafka);
      }
      // The version is unknown: earlier transforms may have changed the schema.
      SchemaFields.ofTopic(refinedBySchemas(topic))
          .ifPresent(fields -> result.addSchema(kafka, null, fields));
      declared
          .forTopic(topic.topic(), connector)
          .ifPresent(
              other -> {
                final ColumnLineage unknown = unknownColumns(UNKNOWN_CONFIG);
                result.addPair(isSink ? kafka : other, isSink ? other : kafka, unknown);
              });
    }
  }

  private static SymbolicRecord refinedBySchemas(final ObservedTopic seen) {
    return SchemaRefinement.refine(
        SymbolicRecord.initial(seen.topic()), seen.keySchema(), seen.valueSchema());
  }

  /** Return column lineage in which every column is unknown. */
  static ColumnLineage unknownColumns(final String reason) {
    return new ColumnLineage(List.of(), Set.of("*"), List.of(reason));
  }
}
