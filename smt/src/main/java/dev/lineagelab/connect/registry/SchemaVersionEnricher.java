// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.columns.SymbolicRecord.Side;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.DatasetSchema;
import dev.lineagelab.connect.settings.RegistrySettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Adds registered schema versions to the lineage of a connector. Used by one thread, and never
 * blocks on a registry.
 */
final class SchemaVersionEnricher implements AutoCloseable {
  /** Retry delays, 0.2 s to 25.6 s, 51 s in total. */
  private static final List<Duration> DELAYS =
      IntStream.range(0, 8).mapToObj(attempt -> Duration.ofMillis(200L << attempt)).toList();

  private final SchemaVersionLookups lookups;
  private final ConverterRegistries converters = new ConverterRegistries();

  /** Create an enricher. No thread or connection is opened until a converter has a registry. */
  SchemaVersionEnricher(final int requestsPerMinute) {
    this(new SchemaVersionLookups(requestsPerMinute, DELAYS));
  }

  SchemaVersionEnricher(final SchemaVersionLookups lookups) {
    this.lookups = lookups;
  }

  /**
   * Add versions to the lineage of a connector. Later calls with the same arguments may add more.
   *
   * @param found lineage without versions
   */
  EnrichedLineage enrich(
      final ConnectorDefinition connector,
      final RegistrySettings settings,
      final ConnectorLineage found) {
    final List<Dataset> topics =
        connector.type() == ConnectorType.SINK ? found.inputs() : found.outputs();
    if (!settings.enabled() || !connector.complete() || topics.isEmpty()) {
      return new EnrichedLineage(found, false);
    }
    final ConverterRegistries.Converter converter =
        converters.of(settings.converterOf(connector.config()), Side.VALUE);
    if (converter.unusable() != null) {
      final String note =
          "The registry of the value converter cannot be queried for versions: "
              + converter.unusable()
              + ".";
      return new EnrichedLineage(found.withNotes(List.of(note)), false);
    }
    return converter
        .registry()
        .map(registry -> enrich(registry, topics, found))
        .orElseGet(() -> new EnrichedLineage(found, false));
  }

  private EnrichedLineage enrich(
      final RegistryConfig registry, final List<Dataset> topics, final ConnectorLineage found) {
    final Map<Dataset, DatasetSchema> schemas = new TreeMap<>(found.schemas());
    final List<String> notes = new ArrayList<>();
    boolean isPending = false;
    for (final Dataset topic : topics) {
      final DatasetSchema schema = schemas.get(topic);
      if (schema != null) {
        final VersionLookupResult answer =
            lookups.lookUp(
                registry,
                registry.subjectNames().subject(topic.name()),
                SchemaMatcher.valueFields(schema.fields()));
        isPending |= answer.isPending();
        Optional.ofNullable(answer.note()).ifPresent(notes::add);
        schemas.put(topic, new DatasetSchema(answer.schema(), null, schema.fields()));
      }
    }
    return new EnrichedLineage(found.withSchemas(schemas).withNotes(notes), isPending);
  }

  @Override
  public void close() {
    lookups.close();
  }
}
