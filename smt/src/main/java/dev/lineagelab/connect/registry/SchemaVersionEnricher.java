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
 * Adds to what is known of a connector which versions its topics' schemas have in the registry.
 * Used by one thread, which never waits for a registry.
 */
public final class SchemaVersionEnricher implements AutoCloseable {
  private static final int MAX_CONVERTERS = 1000;

  /** From a fifth of a second to a quarter of a minute; together a minute. */
  private static final List<Duration> DELAYS =
      IntStream.range(0, 8).mapToObj(attempt -> Duration.ofMillis(200L << attempt)).toList();

  private final SchemaVersionLookups lookups;
  private final Map<Map<String, String>, Converter> converters = new HashMap<>();

  /**
   * A converter as its options tell it.
   *
   * @param registry empty if it has none that can be asked
   * @param note why its registry cannot be asked; null if it can, or if it has none
   */
  private record Converter(Optional<RegistryConfig> registry, String note) {}

  /**
   * What is known by now.
   *
   * @param isPending whether a version may well be known in a moment
   */
  public record Completed(ConnectorLineage description, boolean isPending) {}

  /** Starts nothing until there is a converter with a registry. */
  public SchemaVersionEnricher(final int requestsPerMinute) {
    this(new SchemaVersionLookups(requestsPerMinute, DELAYS));
  }

  SchemaVersionEnricher(final SchemaVersionLookups lookups) {
    this.lookups = lookups;
  }

  /**
   * Completes a description. The same arguments may give more later.
   *
   * @param found all of it but versions
   */
  public Completed complete(
      final ConnectorDefinition connector,
      final RegistrySettings settings,
      final ConnectorLineage found) {
    final List<Dataset> topics =
        connector.type() == ConnectorType.SINK ? found.inputs() : found.outputs();
    if (!settings.enabled() || !connector.complete() || topics.isEmpty()) {
      return new Completed(found, false);
    }
    final Converter converter = converter(settings.converterOf(connector.config()));
    if (converter.note != null) {
      return new Completed(found.noting(List.of(converter.note)), false);
    }
    return converter
        .registry
        .map(registry -> complete(registry, topics, found))
        .orElseGet(() -> new Completed(found, false));
  }

  private Completed complete(
      final RegistryConfig registry, final List<Dataset> topics, final ConnectorLineage found) {
    final Map<Dataset, DatasetSchema> schemas = new TreeMap<>(found.schemas());
    final List<String> notes = new ArrayList<>();
    boolean isPending = false;
    for (final Dataset topic : topics) {
      final DatasetSchema schema = schemas.get(topic);
      if (schema != null) {
        final VersionLookupResult answer =
            lookups.ask(
                registry,
                registry.subjects().of(topic.name()),
                SchemaMatcher.ofValue(schema.fields()));
        isPending |= answer.isPending();
        Optional.ofNullable(answer.note()).ifPresent(notes::add);
        schemas.put(topic, new DatasetSchema(answer.schema(), null, schema.fields()));
      }
    }
    return new Completed(found.with(schemas).noting(notes), isPending);
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
          "The registry of the value converter cannot be asked for versions: "
              + e.getMessage()
              + ".");
    }
  }

  @Override
  public void close() {
    lookups.close();
  }
}
