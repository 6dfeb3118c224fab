// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.LineageExtractor;
import dev.lineagelab.connect.registry.EnrichedLineage;
import dev.lineagelab.connect.registry.SchemaVersionEnricher;
import dev.lineagelab.connect.registry.TableEnricher;
import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.state.SharedState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lineage of one connector, extracted again only when one of its inputs has changed. */
final class LineageCache {
  private static final Logger LOG = LoggerFactory.getLogger(LineageCache.class);

  private final LineageExtractor extractor;
  private final SchemaVersionEnricher enricher;
  private final TableEnricher tables;
  private final SharedState state;
  private ConnectorDefinition definition;
  private PluginSettings settings;
  private long topicsVersion = -1;
  private ConnectorLineage extracted;
  private ConnectorLineage enriched;

  LineageCache(
      final LineageExtractor extractor,
      final SchemaVersionEnricher enricher,
      final TableEnricher tables,
      final SharedState state) {
    this.extractor = extractor;
    this.enricher = enricher;
    this.tables = tables;
    this.state = state;
  }

  /** Current lineage of the connector; empty if its extraction fails. */
  ConnectorLineage get(final ConnectorDefinition connector, final PluginSettings own) {
    final long version = state.topicsVersion(connector.name());
    if (version != topicsVersion || own != settings || !connector.equals(definition)) {
      topicsVersion = version;
      settings = own;
      definition = connector;
      extracted = extract();
    }
    final EnrichedLineage limited =
        tables.enrich(definition, settings.registry().readsTables(), extracted);
    final EnrichedLineage current =
        enricher.enrich(definition, settings.registry(), limited.lineage());
    final boolean isPending = limited.isPending() || current.isPending();
    if (enriched == null || !isPending || !hasSameDatasets(current.lineage())) {
      enriched = current.lineage();
    }
    return enriched;
  }

  /**
   * Return whether only schemas may differ. Lineage with new columns is held back until their
   * version is looked up, as they would appear to belong to the version before; other datasets are
   * not.
   */
  private boolean hasSameDatasets(final ConnectorLineage current) {
    return current.inputs().equals(enriched.inputs())
        && current.outputs().equals(enriched.outputs());
  }

  private ConnectorLineage extract() {
    try {
      return extractor.extract(definition, state.topics(definition.name()), settings.namespaces());
    } catch (final RuntimeException | StackOverflowError e) {
      LOG.error("Cannot extract the lineage of {}; its events have no datasets", definition, e);
      return ConnectorLineage.EMPTY;
    }
  }
}
