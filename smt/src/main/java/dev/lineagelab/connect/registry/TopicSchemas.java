// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.SymbolicRecord.Side;
import dev.lineagelab.connect.columns.TransformChain;
import dev.lineagelab.connect.columns.UnusableOptionException;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.ObservedTopic;
import dev.lineagelab.connect.settings.RegistrySettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.connect.data.Schema;

/**
 * Schemas of the topics of a connector that no lineage transform observes: the latest ones in the
 * registries of its converters. Used by one thread, and never blocks on a registry.
 */
public final class TopicSchemas implements AutoCloseable {
  private static final Duration INTERVAL = Duration.ofMinutes(1);

  private final ConverterRegistries converters = new ConverterRegistries();
  private final RefreshedLookups<Subject, Schema> lookups;

  private record Subject(RegistryConfig registry, String name) {
    @Override
    public String toString() {
      return "subject " + name + " in the registry at " + registry;
    }
  }

  /**
   * Schemas found so far.
   *
   * @param topics with the schemas of their records in Kafka: those of a sink are before its first
   *     transform, those of a source after its last one
   * @param notes where the schemas are from, or why there are none, as sentences for users
   * @param isPending true if more are likely to be found soon
   */
  public record Found(List<ObservedTopic> topics, List<String> notes, boolean isPending) {
    /** No schemas. */
    public static final Found NONE = new Found(List.of(), List.of(), false);

    public Found {
      topics = List.copyOf(topics);
      notes = List.copyOf(notes);
    }
  }

  /**
   * Create a reader. No thread or connection is opened until a connector has a registry.
   *
   * @param requestsPerMinute limit for all registries together
   */
  TopicSchemas(final int requestsPerMinute) {
    this(requestsPerMinute, INTERVAL);
  }

  TopicSchemas(final int requestsPerMinute, final Duration interval) {
    final SchemaVersionFinder finder =
        new SchemaVersionFinder(RegistryHttp.limited(requestsPerMinute));
    this.lookups =
        new RefreshedLookups<>(
            "connect-lineage-schemas",
            interval,
            subject -> finder.latest(subject.registry(), subject.name()));
  }

  /** Return the schemas of a connector without the lineage transform. */
  Found of(final ConnectorDefinition connector, final RegistrySettings settings) {
    if (!settings.enabled() || !connector.complete()) {
      return Found.NONE;
    }
    final ConverterRegistries.Converter values =
        converters.of(settings.converterOf(connector.config()), Side.VALUE);
    if (values.unusable() != null) {
      return unknown(values.unusable());
    }
    final Optional<RegistryConfig> keys =
        converters.of(settings.keyConverterOf(connector.config()), Side.KEY).registry();
    try {
      return values.registry().map(registry -> of(registry, keys, connector)).orElse(Found.NONE);
    } catch (final UnusableOptionException e) {
      return unknown(e.getMessage());
    }
  }

  private static Found unknown(final String why) {
    return new Found(
        List.of(), List.of("The columns of the topics are unknown: " + why + "."), false);
  }

  private static Set<String> topics(final ConnectorDefinition connector) {
    final Set<String> topics = new TreeSet<>(connector.activeTopics());
    if (connector.type() == ConnectorType.SINK) {
      topics.addAll(new ConnectorOptions(connector.config()).list("topics"));
    }
    return topics;
  }

  private Found of(
      final RegistryConfig registry,
      final Optional<RegistryConfig> keys,
      final ConnectorDefinition connector) {
    final String place =
        connector.type() == ConnectorType.SINK
            ? TransformChain.START_OF_CHAIN
            : TransformChain.END_OF_CHAIN;
    final List<ObservedTopic> found = new ArrayList<>();
    final List<String> notes = new ArrayList<>();
    boolean isPending = false;
    for (final String topic : topics(connector)) {
      final Subject subject = subject(registry, topic);
      final LookupResult<Schema> value = lookups.lookUp(subject);
      // Many keys have no schema, which is no gap.
      final Optional<LookupResult<Schema>> key =
          keys.map(other -> lookups.lookUp(subject(other, topic)));
      isPending |= value.isPending() || key.map(LookupResult::isPending).orElse(false);
      if (value.value() != null) {
        final Schema keySchema = key.map(LookupResult::value).orElse(null);
        found.add(new ObservedTopic(topic, keySchema, value.value(), place));
        notes.add(
            "The columns of topic '"
                + topic
                + "' are those of its latest schema in the registry: the connector has no lineage"
                + " transform, which would observe its records.");
      } else if (!value.isPending()) {
        final String why =
            Optional.ofNullable(value.note())
                .orElse("subject '" + subject.name() + "' does not exist in the registry");
        notes.add("The columns of topic '" + topic + "' are unknown: " + why + ".");
      }
    }
    return new Found(found, notes, isPending);
  }

  private static Subject subject(final RegistryConfig registry, final String topic) {
    return new Subject(registry, registry.subjectNames().subject(topic));
  }

  @Override
  public void close() {
    lookups.close();
  }
}
