// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.ColumnOrigins;
import dev.lineagelab.connect.columns.SchemaRefinement;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.model.ColumnLineage;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.ObservedTopic;
import java.util.List;
import java.util.Set;

/**
 * What can be said of a connector whose configuration is not known: of a sink the topics that were
 * read; of a source those that records had at the transform's place. A topic's schema is the one
 * that was seen there. Both are right if the transform is the first of a sink, the last of a
 * source.
 */
final class TopicOnlyExtractor {
  static final String REASON =
      "The connector's configuration is not known: no REST extension has seen it.";

  private TopicOnlyExtractor() {}

  static void describe(
      final ConnectorContext connector,
      final List<ObservedTopic> seen,
      final DeclaredDatasets declared,
      final ConnectorLineageBuilder result) {
    result.note(REASON);
    final boolean isSink = connector.view().type() == ConnectorType.SINK;
    for (final ObservedTopic topic : seen) {
      final Dataset kafka = connector.topic(topic.topic());
      if (isSink) {
        result.input(kafka);
      } else {
        result.output(kafka);
      }
      // Of which version it is cannot be told: transforms before may have made another of it.
      ColumnOrigins.topicFields(asSeen(topic))
          .ifPresent(fields -> result.schema(kafka, null, fields));
      declared
          .of(topic.topic(), connector)
          .ifPresent(
              other -> {
                final ColumnLineage unknown = unknown(REASON);
                result.pair(isSink ? kafka : other, isSink ? other : kafka, unknown);
              });
    }
  }

  private static SymbolicRecord asSeen(final ObservedTopic seen) {
    return SchemaRefinement.refine(
        SymbolicRecord.startingAs(seen.topic()), seen.keySchema(), seen.valueSchema());
  }

  /** No column is known. */
  static ColumnLineage unknown(final String reason) {
    return new ColumnLineage(List.of(), Set.of("*"), List.of(reason));
  }
}
