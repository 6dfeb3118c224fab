// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.settings.RegistrySettings;

/** Lookups in registries of schemas and in catalogs of tables, which never block. */
public final class ServiceLookups implements AutoCloseable {
  private final TopicSchemas schemas;
  private final TableEnricher tables;
  private final SchemaVersionEnricher versions;

  /**
   * Create lookups. No thread or connection is opened until one is needed.
   *
   * @param requestsPerMinute limit for each of the three kinds
   */
  public ServiceLookups(final int requestsPerMinute) {
    this.schemas = new TopicSchemas(requestsPerMinute);
    this.tables = new TableEnricher(requestsPerMinute);
    this.versions = new SchemaVersionEnricher(requestsPerMinute);
  }

  /** Return the schemas of the topics of a connector without the lineage transform. */
  public TopicSchemas.Found schemas(
      final ConnectorDefinition connector, final RegistrySettings settings) {
    return schemas.of(connector, settings);
  }

  /** Limit lineage to columns that fixed tables have, and add versions of schemas. */
  public EnrichedLineage enrich(
      final ConnectorDefinition connector,
      final RegistrySettings settings,
      final ConnectorLineage found) {
    final EnrichedLineage limited = tables.enrich(connector, settings.readsTables(), found);
    final EnrichedLineage versioned = versions.enrich(connector, settings, limited.lineage());
    return new EnrichedLineage(versioned.lineage(), limited.isPending() || versioned.isPending());
  }

  @Override
  public void close() {
    schemas.close();
    tables.close();
    versions.close();
  }
}
