// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.ColumnOrigins;
import dev.lineagelab.connect.columns.SchemaFields;
import dev.lineagelab.connect.columns.SchemaRefinement;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.columns.SymbolicRecord.Side;
import dev.lineagelab.connect.columns.TopicName;
import dev.lineagelab.connect.columns.TransformChain;
import dev.lineagelab.connect.columns.UnusableOptionException;
import dev.lineagelab.connect.model.ColumnLineage;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.ObservedTopic;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Traces the records of a source: from each dataset through the transforms before this plugin's to
 * the topics observed there, and through the transforms after it to the topics that are written.
 */
final class SourceLineageExtractor {
  /**
   * Place in the chain at which a topic was observed.
   *
   * @param alias of this plugin's transform there
   * @param schemaSides sides of the records that have a schema
   */
  private record Place(String alias, Set<Side> schemaSides) {}

  private final ConnectorContext connector;
  private final TransformChain chain;
  private final DatasetResolver resolver;
  private final DeclaredDatasets declared;
  private final ConnectorLineageBuilder result;

  /** Why streams may lead to any topic, unless a note says it already. */
  private final Set<String> unknownRoutes = new TreeSet<>();

  SourceLineageExtractor(
      final ConnectorContext connector,
      final TransformChain chain,
      final DatasetResolver resolver,
      final DeclaredDatasets declared,
      final ConnectorLineageBuilder result) {
    this.connector = connector;
    this.chain = chain;
    this.resolver = resolver;
    this.declared = declared;
    this.result = result;
  }

  void extract(final List<ObservedTopic> observed) {
    final List<ObservedTopic> seen = withActiveTopics(observed);
    final Map<ObservedTopic, Place> places = new IdentityHashMap<>();
    seen.forEach(topic -> places.put(topic, place(topic)));
    final Set<String> traced = new HashSet<>();
    final List<SourceStream> streams = sourceStreams(seen);
    for (final SourceStream stream : streams) {
      if (stream.dataset() != null) {
        result.addInput(stream.dataset());
      }
      final Set<TopicName> reached = new HashSet<>();
      final Map<Place, List<SymbolicRecord>> atPlaces = new HashMap<>();
      for (final ObservedTopic topic : seen) {
        final List<SymbolicRecord> branches =
            atPlaces.computeIfAbsent(places.get(topic), place -> before(place, stream.record()));
        final Set<TopicName> ends = trace(stream, topic, branches);
        reached.addAll(ends);
        if (!ends.isEmpty()) {
          traced.add(topic.topic());
        }
      }
      traceUnobserved(stream, reached);
    }
    seen.stream()
        .filter(topic -> !traced.contains(topic.topic()))
        .filter(topic -> streams.isEmpty() || !isOnlyActive(topic))
        .forEach(this::addUntracedTopic);
  }

  /** Add the topics that the worker knows the connector to have written. */
  private List<ObservedTopic> withActiveTopics(final List<ObservedTopic> observed) {
    final List<ObservedTopic> all = new ArrayList<>(observed);
    final Set<String> known =
        observed.stream().map(ObservedTopic::topic).collect(Collectors.toSet());
    connector.definition().activeTopics().stream()
        .filter(topic -> !known.contains(topic))
        .sorted()
        .forEach(
            topic -> all.add(new ObservedTopic(topic, null, null, TransformChain.END_OF_CHAIN)));
    return all;
  }

  /**
   * Return true for a topic that no transform observed. It may have been written under an earlier
   * configuration, so that it counts only if a stream leads to it, or nothing else is known.
   */
  private static boolean isOnlyActive(final ObservedTopic topic) {
    return TransformChain.END_OF_CHAIN.equals(topic.alias());
  }

  private List<SymbolicRecord> before(final Place place, final SymbolicRecord start) {
    return chain.before(place.alias).apply(start.withSchemaSides(place.schemaSides));
  }

  private List<SourceStream> sourceStreams(final List<ObservedTopic> seen) {
    try {
      final Resolution<SourceStream> streams = resolver.sourceStreams(connector, seen);
      result.addNotes(streams.notes());
      return streams.found();
    } catch (final UnusableOptionException e) {
      result.addNote("The datasets that the connector reads are unknown: " + e.getMessage() + ".");
      return List.of();
    }
  }

  /**
   * Trace a stream through an observed topic.
   *
   * @param atPlace possible records of the stream at the place of observation
   * @return topics that it reaches; empty if the topic is not part of this stream
   */
  private Set<TopicName> trace(
      final SourceStream stream, final ObservedTopic seen, final List<SymbolicRecord> atPlace) {
    if (!stream.carries().test(seen)) {
      return Set.of();
    }
    final List<SymbolicRecord> branches =
        atPlace.stream()
            .filter(branch -> canMatch(branch.topic(), seen.topic(), stream.isSoleStream()))
            .toList();
    if (branches.isEmpty()) {
      return Set.of();
    }
    final SymbolicRecord refined =
        SchemaRefinement.refine(
            SymbolicRecord.anyOf(branches).withTopic(new TopicName.Known(seen.topic())),
            seen.keySchema(),
            seen.valueSchema());
    return trace(stream, chain.after(place(seen).alias).apply(refined));
  }

  private static boolean canMatch(
      final TopicName name, final String topic, final boolean isSoleStream) {
    return name.canEqual(topic) || isSoleStream && name instanceof TopicName.Unknown;
  }

  /**
   * Return the place of an observation; the end of the chain if this plugin's transform is not in
   * it.
   */
  private Place place(final ObservedTopic seen) {
    final String alias =
        Optional.ofNullable(seen.alias())
            .or(() -> chain.observerOf(ConnectorLineageExtractor.OWN_TRANSFORM, false))
            .orElse(TransformChain.END_OF_CHAIN);
    return new Place(alias, Side.ofSchemas(seen.keySchema(), seen.valueSchema()));
  }

  /** Add topics that follow from the configuration, before a record of them was observed. */
  private void traceUnobserved(final SourceStream stream, final Set<TopicName> reached) {
    final List<SymbolicRecord> all = chain.apply(stream.record());
    all.forEach(branch -> result.addNotes(branch.reasons()));
    for (final SymbolicRecord branch : all) {
      if (branch.topic() instanceof final TopicName.Unknown unknown
          && !branch.reasons().contains(unknown.reason())) {
        unknownRoutes.add(unknown.reason());
      }
    }
    trace(
        stream,
        all.stream()
            .filter(branch -> branch.topic() instanceof TopicName.Known)
            .filter(branch -> !reached.contains(branch.topic()))
            .toList());
  }

  private Set<TopicName> trace(final SourceStream stream, final List<SymbolicRecord> branches) {
    final Set<TopicName> ends = new HashSet<>();
    for (final SymbolicRecord record : TransformChain.byTopic(branches)) {
      result.addNotes(record.reasons());
      if (record.topic() instanceof final TopicName.Known topic) {
        addTopic(stream, record, topic.name());
        ends.add(topic);
      }
    }
    return ends;
  }

  private void addTopic(final SourceStream stream, final SymbolicRecord record, final String name) {
    final Dataset topic = connector.topic(name);
    result.addOutput(topic);
    SchemaFields.ofTopic(record).ifPresent(fields -> result.addSchema(topic, null, fields));
    final Optional<Dataset> other = declared.forTopic(name, connector);
    if (other.isPresent()) {
      result.addPair(other.get(), topic, unknownColumns());
    } else if (stream.dataset() != null) {
      result.addPair(
          stream.dataset(),
          topic,
          ConnectorLineageBuilder.columnLineage(
              ColumnOrigins.ofTopic(record), stream.dataset(), stream.columns(), record.filters()));
    }
  }

  /** Add an observed topic that no stream reaches: it is written, its input is unknown. */
  private void addUntracedTopic(final ObservedTopic seen) {
    final SymbolicRecord start =
        SchemaRefinement.refine(
            SymbolicRecord.initial(seen.topic()), seen.keySchema(), seen.valueSchema());
    if (isOnlyActive(seen)) {
      result.addNote(
          "The topics are those that the connector has written since it was created: this plugin"
              + " knows no dataset that it reads, and observes no record.");
    }
    for (final String reason : unknownRoutes) {
      result.addNote(
          "The dataset from which topic '" + seen.topic() + "' is written is unknown. " + reason);
    }
    for (final SymbolicRecord record :
        TransformChain.byTopic(chain.after(place(seen).alias).apply(start))) {
      if (record.topic() instanceof final TopicName.Known topic) {
        final Dataset output = connector.topic(topic.name());
        result.addOutput(output);
        SchemaFields.ofTopic(record).ifPresent(fields -> result.addSchema(output, null, fields));
        declared
            .forTopic(topic.name(), connector)
            .ifPresent(input -> result.addPair(input, output, unknownColumns()));
      }
    }
  }

  private static ColumnLineage unknownColumns() {
    return TopicOnlyExtractor.unknownColumns("The columns of declared datasets are unknown.");
  }
}
