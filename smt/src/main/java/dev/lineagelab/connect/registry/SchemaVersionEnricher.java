// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.columns.UnusableOptionException;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.DatasetSchema;
import dev.lineagelab.connect.settings.RegistrySettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Adds registered schema versions to the lineage of a connector. Used by one thread, and never
 * blocks on a registry.
 */
public final class SchemaVersionEnricher implements AutoCloseable {
  private static final int MAX_CONVERTERS = 1000;

  /** Retry delays, 0.2 s to 25.6 s, 51 s in total. */
  private static final List<Duration> DELAYS =
      IntStream.range(0, 8).mapToObj(attempt -> Duration.ofMillis(200L << attempt)).toList();

  private final SchemaVersionLookups lookups;
  private final Map<Map<String, String>, Converter> converters = new HashMap<>();

  /**
   * Registry of a converter.
   *
   * @param registry empty if there is none, or it cannot be queried
   * @param note why it cannot be queried; null if it can, or if there is none
   */
  private record Converter(Optional<RegistryConfig> registry, String note) {}

  /** Create an enricher. No thread or connection is opened until a converter has a registry. */
  public SchemaVersionEnricher(final int requestsPerMinute) {
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
  public EnrichedLineage enrich(
      final ConnectorDefinition connector,
      final RegistrySettings settings,
      final ConnectorLineage found) {
    final List<Dataset> topics =
        connector.type() == ConnectorType.SINK ? found.inputs() : found.outputs();
    if (!settings.enabled() || !connector.complete() || topics.isEmpty()) {
      return new EnrichedLineage(found, false);
    }
    final Converter converter = converter(settings.converterOf(connector.config()));
    if (converter.note != null) {
      return new EnrichedLineage(found.withNotes(List.of(converter.note)), false);
    }
    return converter
        .registry
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

  private Converter converter(final Map<String, String> options) {
    if (converters.size() > MAX_CONVERTERS) {
      converters.clear();
    }
    return converters.computeIfAbsent(options, SchemaVersionEnricher::read);
  }

  private static Converter read(final Map<String, String> options) {
    try {
      return new Converter(RegistryConfig.of(options), null);
    } catch (final UnusableOptionException e) {
      return new Converter(
          Optional.empty(),
          "The registry of the value converter cannot be queried for versions: "
              + e.getMessage()
              + ".");
    }
  }

  @Override
  public void close() {
    lookups.close();
  }
}
