// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.model.ObservedTopic;
import java.util.List;

/**
 * Knows the datasets of a family of connectors besides topics. Found by ServiceLoader. Without
 * state: one instance serves all connectors.
 */
public interface DatasetResolver {
  /**
   * Whether it knows connectors of a class.
   *
   * @param connectorClass as a configuration has it, perhaps without package
   */
  boolean knows(String connectorClass);

  /**
   * What a source reads, and as which records.
   *
   * @param seen topics as they were seen somewhere in the chain
   * @throws dev.lineagelab.connect.columns.UnusableOptionException the configuration does not tell
   */
  default Resolution<SourceStream> streams(
      final ConnectorContext connector, final List<ObservedTopic> seen) {
    return Resolution.none();
  }

  /**
   * Where a sink puts a record.
   *
   * @param record as the chain leaves it
   * @throws dev.lineagelab.connect.columns.UnusableOptionException the configuration does not tell
   */
  default Resolution<SinkTarget> targets(
      final ConnectorContext connector, final SymbolicRecord record) {
    return Resolution.none();
  }
}
