// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.BoundedRegex;
import dev.lineagelab.connect.columns.ColumnOrigins;
import dev.lineagelab.connect.columns.Contribution;
import dev.lineagelab.connect.columns.Origin;
import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.columns.SchemaRefinement;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.columns.SymbolicRecord.Side;
import dev.lineagelab.connect.columns.SymbolicValue;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.TransformChain;
import dev.lineagelab.connect.columns.UnusableOptionException;
import dev.lineagelab.connect.datasets.SourceStream.InputColumn;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.Field;
import dev.lineagelab.connect.model.ObservedTopic;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.kafka.connect.data.Schema;

/**
 * Follows the records of a sink: from each topic that it reads through the transforms to where the
 * sink puts them. Each topic goes its own way, so that edges never cross.
 */
final class SinkLineageExtractor {
  /** Every part of a Kafka record has a name. */
  private static final Function<Origin, Optional<InputColumn>> TOPIC_COLUMNS =
      origin -> Optional.of(InputColumn.of(origin.columnName()));

  private static final Map<Part, String> RECORD_TYPES =
      Map.of(
          Part.TOPIC, "string",
          Part.PARTITION, "int32",
          Part.OFFSET, "int64",
          Part.TIMESTAMP, "timestamp");

  private final ConnectorContext connector;
  private final TransformChain chain;
  private final DatasetResolver resolver;
  private final DeclaredDatasets declared;
  private final ConnectorLineageBuilder result;

  SinkLineageExtractor(
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
    final Map<String, List<ObservedTopic>> byName = new TreeMap<>();
    configured().forEach(name -> byName.put(name, new ArrayList<>()));
    final List<String> configured = List.copyOf(byName.keySet());
    final Predicate<String> isRead = isRead(configured);
    seen.stream()
        .flatMap(
            topic ->
                isRead.test(topic.topic())
                    ? Stream.of(topic)
                    : unrouted(topic, configured).stream())
        .forEach(topic -> byName.computeIfAbsent(topic.topic(), k -> new ArrayList<>()).add(topic));
    byName.forEach(
        (name, observations) -> {
          result.input(connector.topic(name));
          if (observations.isEmpty()) {
            arrive(name, chain.apply(SymbolicRecord.startingAs(name)));
          }
          observations.forEach(this::follow);
        });
  }

  /**
   * A topic that is not read may be one that was renamed on the way: workers before Kafka 3.6 show
   * a sink's transform no other name. Empty if none of the topics that are read gets that name, or
   * more than one.
   */
  private Optional<ObservedTopic> unrouted(final ObservedTopic seen, final List<String> read) {
    final TransformChain before = chain.before(place(seen));
    final List<String> originals =
        read.stream()
            .filter(
                name ->
                    before.apply(SymbolicRecord.startingAs(name)).stream()
                        .anyMatch(way -> way.topic().canBe(seen.topic())))
            .toList();
    return originals.size() == 1
        ? Optional.of(
            new ObservedTopic(originals.get(0), seen.keySchema(), seen.valueSchema(), seen.alias()))
        : Optional.empty();
  }

  private String place(final ObservedTopic seen) {
    return Optional.ofNullable(seen.alias())
        .or(() -> chain.aliasOf(ConnectorLineageExtractor.OWN_TRANSFORM))
        .orElse(TransformChain.END);
  }

  private Collection<String> configured() {
    try {
      return new TreeSet<>(connector.options().list("topics"));
    } catch (final UnusableOptionException e) {
      result.note("Which topics the connector reads is not known: " + e.getMessage() + ".");
      return List.of();
    }
  }

  /** Topics of before a change of the configuration may have been seen too. */
  private Predicate<String> isRead(final Collection<String> configured) {
    try {
      final Optional<BoundedRegex> pattern =
          connector.options().text("topics.regex").map(BoundedRegex::of);
      if (pattern.isPresent()) {
        return topic -> isMatch(pattern.get(), topic);
      }
    } catch (final UnusableOptionException e) {
      result.note("Which topics the connector reads is not known: " + e.getMessage() + ".");
      return topic -> true;
    }
    final Set<String> topics = Set.copyOf(configured);
    return topics.isEmpty() ? topic -> true : topics::contains;
  }

  private boolean isMatch(final BoundedRegex pattern, final String topic) {
    try {
      return pattern.matches(topic);
    } catch (final UnusableOptionException e) {
      result.note("Which topics the connector reads is not known: " + e.getMessage() + ".");
      return true;
    }
  }

  private void follow(final ObservedTopic seen) {
    final String place = place(seen);
    final SymbolicRecord start =
        SymbolicRecord.startingAs(seen.topic())
            .withSchema(Side.withSchema(seen.keySchema(), seen.valueSchema()));
    final List<SymbolicRecord> before = TransformChain.byTopic(chain.before(place).apply(start));
    ownFields(before).ifPresent(added -> schema(seen, added));
    final List<SymbolicRecord> after = new ArrayList<>();
    before.stream()
        .map(record -> SchemaRefinement.refine(record, seen.keySchema(), seen.valueSchema()))
        .forEach(record -> after.addAll(chain.after(place).apply(record)));
    arrive(seen.topic(), after);
  }

  /**
   * The fields that transforms before have added, if they have done nothing else to the value: the
   * topic's own schema is then the one that was seen without them.
   */
  private static Optional<Set<String>> ownFields(final List<SymbolicRecord> before) {
    final Set<String> added = new TreeSet<>();
    for (final SymbolicRecord record : before) {
      if (record.value() instanceof final StructValue tree
          && tree.rest() instanceof SymbolicValue.Passthrough) {
        final boolean isAdded =
            tree.gone().isEmpty()
                && ColumnOrigins.of(StructValue.exactly(null, tree.fields()))
                    .known()
                    .values()
                    .stream()
                    .flatMap(Set::stream)
                    .noneMatch(from -> from.origin().part() == Origin.Part.VALUE);
        if (!isAdded) {
          return Optional.empty();
        }
        added.addAll(tree.fields().keySet());
      } else if (!(record.value() instanceof SymbolicValue.Passthrough)) {
        return Optional.empty();
      }
    }
    return Optional.of(added);
  }

  private void schema(final ObservedTopic seen, final Set<String> added) {
    final Schema value = seen.valueSchema();
    if (value == null) {
      return;
    }
    final SymbolicRecord whole =
        SchemaRefinement.refine(SymbolicRecord.startingAs(seen.topic()), seen.keySchema(), value);
    final Integer version = added.isEmpty() ? value.version() : null;
    ColumnOrigins.topicFields(whole)
        .map(fields -> fields.stream().filter(field -> !added.contains(field.name())).toList())
        .ifPresent(fields -> result.schema(connector.topic(seen.topic()), version, fields));
  }

  private void arrive(final String topic, final List<SymbolicRecord> ways) {
    final Dataset input = connector.topic(topic);
    final Optional<Dataset> other = declared.of(topic, connector);
    if (ways.isEmpty()) {
      result.note("No record of topic '" + topic + "' gets through the transforms.");
    } else if (other.isPresent()) {
      result.pair(
          input,
          other.get(),
          TopicOnlyExtractor.unknown("Columns of datasets that are only declared are not known."));
    } else {
      TransformChain.byTopic(ways).forEach(record -> arrive(input, record));
    }
  }

  private void arrive(final Dataset input, final SymbolicRecord record) {
    result.notes(record.reasons());
    try {
      final Resolution<SinkTarget> targets = resolver.targets(connector, record);
      result.notes(targets.notes());
      targets.found().forEach(target -> arrive(input, record, target));
    } catch (final UnusableOptionException e) {
      result.note("Where the connector writes is not known: " + e.getMessage() + ".");
    }
  }

  /**
   * What a record has beside key and value is in no schema that was seen. Where it becomes a column
   * it is told as one of the topic's: readers drop columns that come from none.
   */
  private void column(final Dataset topic, final Origin origin) {
    if (RECORD_TYPES.containsKey(origin.part())) {
      result.column(topic, Field.of(origin.columnName(), RECORD_TYPES.get(origin.part())));
    }
  }

  private void arrive(final Dataset input, final SymbolicRecord record, final SinkTarget target) {
    final Set<Contribution> filters = new TreeSet<>(record.filters());
    filters.addAll(target.filters());
    final ColumnOrigins columns = ColumnOrigins.of(target.columns());
    result.pair(
        input,
        target.dataset(),
        ConnectorLineageBuilder.lineage(columns, input, TOPIC_COLUMNS, filters));
    filters.forEach(filter -> column(input, filter.origin()));
    columns.known().values().forEach(from -> from.forEach(part -> column(input, part.origin())));
    result.symlinks(target.dataset(), target.symlinks());
    if (target.hasSchema()) {
      ColumnOrigins.fields(target.columns())
          .ifPresent(fields -> result.schema(target.dataset(), null, fields));
    }
  }
}
