// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.RecordState;
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
  default Resolved<SourceStream> streams(
      final Connector connector, final List<ObservedTopic> seen) {
    return Resolved.none();
  }

  /**
   * Where a sink puts a record.
   *
   * @param record as the chain leaves it
   * @throws dev.lineagelab.connect.columns.UnusableOptionException the configuration does not tell
   */
  default Resolved<SinkTarget> targets(final Connector connector, final RecordState record) {
    return Resolved.none();
  }
}
