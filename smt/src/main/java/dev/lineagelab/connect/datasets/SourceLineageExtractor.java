// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.ColumnOrigins;
import dev.lineagelab.connect.columns.SchemaRefinement;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.columns.SymbolicRecord.Side;
import dev.lineagelab.connect.columns.TopicName;
import dev.lineagelab.connect.columns.TransformChain;
import dev.lineagelab.connect.columns.UnusableOptionException;
import dev.lineagelab.connect.model.ColumnLineage;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.ObservedTopic;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Follows the records of a source: from each of its datasets through the transforms before ours to
 * the topics that were seen there, and through those behind it to the topics that they go to.
 */
final class SourceLineageExtractor {
  /**
   * Where a topic was seen, and what that tells of its records before.
   *
   * @param alias of our transform there
   */
  private record Place(String alias, Set<Side> withSchema) {}

  private final ConnectorContext connector;
  private final TransformChain chain;
  private final DatasetResolver resolver;
  private final DeclaredDatasets declared;
  private final ConnectorLineageBuilder result;

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

  void describe(final List<ObservedTopic> seen) {
    final Map<ObservedTopic, Place> places = new IdentityHashMap<>();
    seen.forEach(topic -> places.put(topic, place(topic)));
    final Set<String> explained = new HashSet<>();
    for (final SourceStream stream : streams(seen)) {
      if (stream.dataset() != null) {
        result.input(stream.dataset());
      }
      final Set<TopicName> reached = new HashSet<>();
      final Map<Place, List<SymbolicRecord>> atPlaces = new HashMap<>();
      for (final ObservedTopic topic : seen) {
        final List<SymbolicRecord> ways =
            atPlaces.computeIfAbsent(places.get(topic), place -> before(place, stream.record()));
        final Set<TopicName> ends = follow(stream, topic, ways);
        reached.addAll(ends);
        if (!ends.isEmpty()) {
          explained.add(topic.topic());
        }
      }
      followUnseen(stream, reached);
    }
    seen.stream().filter(topic -> !explained.contains(topic.topic())).forEach(this::unexplained);
  }

  private List<SymbolicRecord> before(final Place place, final SymbolicRecord start) {
    return chain.before(place.alias).apply(start.withSchema(place.withSchema));
  }

  private List<SourceStream> streams(final List<ObservedTopic> seen) {
    try {
      final Resolution<SourceStream> streams = resolver.streams(connector, seen);
      result.notes(streams.notes());
      return streams.found();
    } catch (final UnusableOptionException e) {
      result.note("What the connector reads is not known: " + e.getMessage() + ".");
      return List.of();
    }
  }

  /**
   * Follows what a stream has in a topic that was seen.
   *
   * @param atPlace what the stream's records may be where it was seen
   * @return the topics to which it goes; none if it is not of this stream
   */
  private Set<TopicName> follow(
      final SourceStream stream, final ObservedTopic seen, final List<SymbolicRecord> atPlace) {
    final List<SymbolicRecord> ways =
        atPlace.stream().filter(way -> canBe(way.topic(), seen.topic(), stream.isOnly())).toList();
    if (ways.isEmpty()) {
      return Set.of();
    }
    final SymbolicRecord refined =
        SchemaRefinement.refine(
            SymbolicRecord.anyOf(ways).with(new TopicName.Known(seen.topic())),
            seen.keySchema(),
            seen.valueSchema());
    return follow(stream, chain.after(place(seen).alias).apply(refined));
  }

  private static boolean canBe(final TopicName name, final String topic, final boolean isOnly) {
    return name.canBe(topic) || isOnly && name instanceof TopicName.Unknown;
  }

  /** A name that no transform can have means the place behind the last of them. */
  private Place place(final ObservedTopic seen) {
    final String alias =
        Optional.ofNullable(seen.alias())
            .or(() -> chain.aliasOf(ConnectorLineageExtractor.OWN_TRANSFORM))
            .orElse(TransformChain.END);
    return new Place(alias, Side.withSchema(seen.keySchema(), seen.valueSchema()));
  }

  /** Topics that the configuration alone tells, before a record was seen of them. */
  private void followUnseen(final SourceStream stream, final Set<TopicName> reached) {
    final List<SymbolicRecord> all = chain.apply(stream.record());
    all.forEach(way -> result.notes(way.reasons()));
    follow(
        stream,
        all.stream()
            .filter(way -> way.topic() instanceof TopicName.Known)
            .filter(way -> !reached.contains(way.topic()))
            .toList());
  }

  private Set<TopicName> follow(final SourceStream stream, final List<SymbolicRecord> ways) {
    final Set<TopicName> ends = new HashSet<>();
    for (final SymbolicRecord record : TransformChain.byTopic(ways)) {
      result.notes(record.reasons());
      if (record.topic() instanceof final TopicName.Known topic) {
        arrive(stream, record, topic.name());
        ends.add(topic);
      }
    }
    return ends;
  }

  private void arrive(final SourceStream stream, final SymbolicRecord record, final String name) {
    final Dataset topic = connector.topic(name);
    result.output(topic);
    ColumnOrigins.topicFields(record).ifPresent(fields -> result.schema(topic, null, fields));
    final Optional<Dataset> other = declared.of(name, connector);
    if (other.isPresent()) {
      result.pair(other.get(), topic, undescribed());
    } else if (stream.dataset() != null) {
      result.pair(
          stream.dataset(),
          topic,
          ConnectorLineageBuilder.lineage(
              ColumnOrigins.ofTopic(record), stream.dataset(), stream.columns(), record.filters()));
    }
  }

  /** A topic that none of the streams explains: it is written, from what is not known. */
  private void unexplained(final ObservedTopic seen) {
    final SymbolicRecord start =
        SchemaRefinement.refine(
            SymbolicRecord.startingAs(seen.topic()), seen.keySchema(), seen.valueSchema());
    for (final SymbolicRecord record :
        TransformChain.byTopic(chain.after(place(seen).alias).apply(start))) {
      if (record.topic() instanceof final TopicName.Known topic) {
        final Dataset output = connector.topic(topic.name());
        result.output(output);
        ColumnOrigins.topicFields(record).ifPresent(fields -> result.schema(output, null, fields));
        declared
            .of(topic.name(), connector)
            .ifPresent(input -> result.pair(input, output, undescribed()));
      }
    }
  }

  private static ColumnLineage undescribed() {
    return TopicOnlyExtractor.unknown("Columns of datasets that are only declared are not known.");
  }
}
