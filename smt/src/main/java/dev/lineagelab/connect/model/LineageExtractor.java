// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.Collection;

/** Extracts the lineage of a connector. */
@FunctionalInterface
public interface LineageExtractor {
  /**
   * Extract the lineage of a connector. Pure: equal arguments give equal results. Never throws
   * because of a configuration; what cannot be determined is omitted and noted.
   *
   * @param topics observed topics; may be empty
   */
  ConnectorLineage extract(
      ConnectorDefinition connector,
      Collection<ObservedTopic> topics,
      DatasetNamespaces namespaces);
}
