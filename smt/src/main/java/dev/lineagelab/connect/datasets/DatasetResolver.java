// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.model.ObservedTopic;
import java.util.List;

/**
 * Resolves the datasets of one family of connectors, topics aside. Discovered by ServiceLoader.
 * Stateless: one instance serves all connectors.
 */
public interface DatasetResolver {
  /**
   * Return true if connectors of a class are supported.
   *
   * @param connectorClass as configured, possibly without package
   */
  boolean supports(String connectorClass);

  /**
   * Resolve the datasets that a source reads, and the records it makes of them.
   *
   * @param seen topics observed in the transform chain
   * @throws dev.lineagelab.connect.columns.UnusableOptionException if the configuration is
   *     insufficient
   */
  default Resolution<SourceStream> sourceStreams(
      final ConnectorContext connector, final List<ObservedTopic> seen) {
    return Resolution.empty();
  }

  /**
   * Resolve the datasets to which a sink writes a record.
   *
   * @param originalTopic topic from which the record was read, regardless of routing
   * @param record output of the transform chain
   * @throws dev.lineagelab.connect.columns.UnusableOptionException if the configuration is
   *     insufficient
   */
  default Resolution<SinkTarget> sinkTargets(
      final ConnectorContext connector, final String originalTopic, final SymbolicRecord record) {
    return Resolution.empty();
  }
}
