// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.Collection;

/** Finds the lineage of a connector. */
@FunctionalInterface
public interface LineageExtractor {
  /**
   * Describes a connector. Pure: equal arguments give equal results. Never throws for anything that
   * a configuration may hold; what it cannot make out is absent and noted.
   *
   * @param topics one entry per topic that records were seen of; may be empty
   */
  ConnectorLineage describe(
      ConnectorDefinition connector, Collection<ObservedTopic> topics, DatasetNamespaces names);
}
