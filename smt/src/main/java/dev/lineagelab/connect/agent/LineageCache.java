// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.cluster.TransformConfig;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.LineageExtractor;
import dev.lineagelab.connect.model.ObservedTopic;
import dev.lineagelab.connect.registry.EnrichedLineage;
import dev.lineagelab.connect.registry.ServiceLookups;
import dev.lineagelab.connect.registry.TopicSchemas;
import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.state.SharedState;
import java.util.Collection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Lineage of one connector, extracted again only when one of its inputs has changed. */
final class LineageCache {
  private static final Logger LOG = LoggerFactory.getLogger(LineageCache.class);

  private final LineageExtractor extractor;
  private final ServiceLookups lookups;
  private final SharedState state;
  private ConnectorDefinition definition;
  private PluginSettings settings;
  private long topicsVersion = -1;
  private TopicSchemas.Found registered = TopicSchemas.Found.NONE;
  private ConnectorLineage extracted;
  private ConnectorLineage enriched;

  LineageCache(
      final LineageExtractor extractor, final ServiceLookups lookups, final SharedState state) {
    this.extractor = extractor;
    this.lookups = lookups;
    this.state = state;
  }

  /** Current lineage of the connector; empty if its extraction fails. */
  ConnectorLineage get(final ConnectorDefinition connector, final PluginSettings own) {
    final long version = state.topicsVersion(connector.name());
    final TopicSchemas.Found schemas =
        TransformConfig.of(connector.config()).isPresent()
            ? TopicSchemas.Found.NONE
            : lookups.schemas(connector, own.registry());
    if (version != topicsVersion
        || own != settings
        || !connector.equals(definition)
        || !schemas.equals(registered)) {
      topicsVersion = version;
      registered = schemas;
      settings = own;
      definition = connector;
      extracted = extract();
    }
    final EnrichedLineage current = lookups.enrich(definition, settings.registry(), extracted);
    final boolean isPending = schemas.isPending() || current.isPending();
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

  /** Topics that the transform observed, or else those with a schema in the registry. */
  private Collection<ObservedTopic> observed() {
    return registered.topics().isEmpty() ? state.topics(definition.name()) : registered.topics();
  }

  private ConnectorLineage extract() {
    try {
      return extractor
          .extract(definition, observed(), settings.namespaces())
          .withNotes(registered.notes());
    } catch (final RuntimeException | StackOverflowError e) {
      LOG.error("Cannot extract the lineage of {}; its events have no datasets", definition, e);
      return ConnectorLineage.EMPTY;
    }
  }
}
