// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.LineageExtractor;
import dev.lineagelab.connect.registry.SchemaVersionEnricher;
import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.state.SharedState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Describes a connector anew only when something has changed that its lineage is made of. */
final class Descriptions {
  private static final Logger LOG = LoggerFactory.getLogger(Descriptions.class);

  private final LineageExtractor describer;
  private final SchemaVersionEnricher versions;
  private final SharedState state;
  private ConnectorDefinition view;
  private PluginSettings settings;
  private long version = -1;
  private ConnectorLineage described;
  private ConnectorLineage completed;

  Descriptions(
      final LineageExtractor describer,
      final SchemaVersionEnricher versions,
      final SharedState state) {
    this.describer = describer;
    this.versions = versions;
    this.state = state;
  }

  /** The connector's lineage as it is now. A mistake in finding it costs no more than it. */
  ConnectorLineage of(final ConnectorDefinition connector, final PluginSettings own) {
    final long current = state.version(connector.name());
    if (current != version || own != settings || !connector.equals(view)) {
      version = current;
      settings = own;
      view = connector;
      described = describe();
    }
    final SchemaVersionEnricher.Completed now =
        versions.complete(view, settings.registry(), described);
    if (completed == null || !now.isPending() || !hasSameDatasets(now.description())) {
      completed = now.description();
    }
    return completed;
  }

  /**
   * New columns without their version would read as columns of the version before: a moment later
   * it is known. Other datasets are told at once.
   */
  private boolean hasSameDatasets(final ConnectorLineage now) {
    return now.inputs().equals(completed.inputs()) && now.outputs().equals(completed.outputs());
  }

  private ConnectorLineage describe() {
    try {
      return describer.describe(view, state.topics(view.name()), settings.names());
    } catch (final RuntimeException | StackOverflowError e) {
      LOG.error("The lineage of {} could not be found out; its runs are told without", view, e);
      return ConnectorLineage.EMPTY;
    }
  }
}
