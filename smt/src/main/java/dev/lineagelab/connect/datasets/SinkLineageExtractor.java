// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.BoundedRegex;
import dev.lineagelab.connect.columns.ColumnOrigins;
import dev.lineagelab.connect.columns.Contribution;
import dev.lineagelab.connect.columns.Origin;
import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.columns.SchemaFields;
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
 * Traces the records of a sink: from each topic through the transforms to the datasets that the
 * sink writes. Topics are traced separately, so edges never cross.
 */
final class SinkLineageExtractor {
  /** Column of any part of a Kafka record. */
  private static final Function<Origin, Optional<InputColumn>> TOPIC_COLUMNS =
      origin -> Optional.of(InputColumn.of(origin.columnName()));

  private static final String DEAD_LETTER_TOPIC = "errors.deadletterqueue.topic.name";

  private static final Map<Part, String> METADATA_TYPES =
      Map.of(
          Part.TOPIC, "string",
          Part.PARTITION, "int32",
          Part.OFFSET, "int64",
          Part.TIMESTAMP, "timestamp",
          Part.HEADERS, SymbolicRecord.HEADERS_TYPE);

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

  void extract(final List<ObservedTopic> seen) {
    final Map<String, List<ObservedTopic>> byName = new TreeMap<>();
    configuredTopics().forEach(name -> byName.put(name, new ArrayList<>()));
    final List<String> configured = List.copyOf(byName.keySet());
    final Predicate<String> isRead = topicFilter(configured);
    connector.definition().activeTopics().stream()
        .filter(isRead)
        .forEach(name -> byName.put(name, new ArrayList<>()));
    seen.stream()
        .flatMap(
            topic ->
                isRead.test(topic.topic())
                    ? Stream.of(topic)
                    : originalTopic(topic, configured).stream())
        .forEach(topic -> byName.computeIfAbsent(topic.topic(), k -> new ArrayList<>()).add(topic));
    byName.forEach(
        (name, observations) -> {
          result.addInput(connector.topic(name));
          if (observations.isEmpty()) {
            addTargets(name, chain.apply(SymbolicRecord.initial(name)));
            addDeadLetters(SymbolicRecord.initial(name), name);
          }
          observations.forEach(this::trace);
        });
  }

  /**
   * Return the topic from which a renamed topic was read. Before Kafka 3.6, a sink's transform
   * receives the renamed topic only. Empty if no configured topic, or more than one, can get that
   * name.
   */
  private Optional<ObservedTopic> originalTopic(final ObservedTopic seen, final List<String> read) {
    final TransformChain before = chain.before(place(seen));
    final List<String> originals =
        read.stream()
            .filter(
                name ->
                    before.apply(SymbolicRecord.initial(name)).stream()
                        .anyMatch(branch -> branch.topic().canEqual(seen.topic())))
            .toList();
    return originals.size() == 1
        ? Optional.of(
            new ObservedTopic(originals.get(0), seen.keySchema(), seen.valueSchema(), seen.alias()))
        : Optional.empty();
  }

  private String place(final ObservedTopic seen) {
    return Optional.ofNullable(seen.alias())
        .or(() -> chain.observerOf(ConnectorLineageExtractor.OWN_TRANSFORM, true))
        .orElse(TransformChain.END_OF_CHAIN);
  }

  private Collection<String> configuredTopics() {
    try {
      return new TreeSet<>(connector.options().list("topics"));
    } catch (final UnusableOptionException e) {
      result.addNote("The topics that the connector reads are unknown: " + e.getMessage() + ".");
      return List.of();
    }
  }

  /**
   * Return the filter for topics that are read. Observations may contain topics from before a
   * configuration change.
   */
  private Predicate<String> topicFilter(final Collection<String> configured) {
    try {
      final Optional<BoundedRegex> pattern =
          connector.options().text("topics.regex").map(BoundedRegex::of);
      if (pattern.isPresent()) {
        return topic -> isMatch(pattern.get(), topic);
      }
    } catch (final UnusableOptionException e) {
      result.addNote("The topics that the connector reads are unknown: " + e.getMessage() + ".");
      return topic -> true;
    }
    final Set<String> topics = Set.copyOf(configured);
    return topics.isEmpty() ? topic -> true : topics::contains;
  }

  private boolean isMatch(final BoundedRegex pattern, final String topic) {
    try {
      return pattern.matches(topic);
    } catch (final UnusableOptionException e) {
      result.addNote("The topics that the connector reads are unknown: " + e.getMessage() + ".");
      return true;
    }
  }

  private void trace(final ObservedTopic seen) {
    final String place = place(seen);
    final SymbolicRecord start =
        SymbolicRecord.initial(seen.topic())
            .withSchemaSides(Side.ofSchemas(seen.keySchema(), seen.valueSchema()));
    final List<SymbolicRecord> before = TransformChain.byTopic(chain.before(place).apply(start));
    final Optional<Set<String>> added = fieldsAddedBefore(before);
    added.ifPresent(fields -> addTopicSchema(seen, fields));
    addDeadLetters(
        added.filter(Set::isEmpty).isPresent()
            ? SchemaRefinement.refine(
                SymbolicRecord.initial(seen.topic()), seen.keySchema(), seen.valueSchema())
            : SymbolicRecord.initial(seen.topic()),
        seen.topic());
    final List<SymbolicRecord> after = new ArrayList<>();
    before.stream()
        .map(record -> SchemaRefinement.refine(record, seen.keySchema(), seen.valueSchema()))
        .forEach(record -> after.addAll(chain.after(place).apply(record)));
    addTargets(seen.topic(), after);
  }

  /**
   * Return the fields that transforms before the observation added, if they changed nothing else in
   * the value. The topic's schema is then the observed one without these fields.
   */
  private static Optional<Set<String>> fieldsAddedBefore(final List<SymbolicRecord> before) {
    final Set<String> added = new TreeSet<>();
    for (final SymbolicRecord record : before) {
      if (record.value() instanceof final StructValue struct
          && struct.rest() instanceof SymbolicValue.Passthrough) {
        final boolean isAdded =
            struct.removed().isEmpty()
                && ColumnOrigins.of(StructValue.closed(null, struct.fields()))
                    .known()
                    .values()
                    .stream()
                    .flatMap(Set::stream)
                    .noneMatch(from -> from.origin().part() == Origin.Part.VALUE);
        if (!isAdded) {
          return Optional.empty();
        }
        added.addAll(struct.fields().keySet());
      } else if (!(record.value() instanceof SymbolicValue.Passthrough)) {
        return Optional.empty();
      }
    }
    return Optional.of(added);
  }

  private void addTopicSchema(final ObservedTopic seen, final Set<String> added) {
    final Schema value = seen.valueSchema();
    if (value == null) {
      return;
    }
    final SymbolicRecord whole =
        SchemaRefinement.refine(SymbolicRecord.initial(seen.topic()), seen.keySchema(), value);
    final Integer version = added.isEmpty() ? value.version() : null;
    SchemaFields.ofTopic(whole)
        .map(fields -> fields.stream().filter(field -> !added.contains(field.name())).toList())
        .ifPresent(fields -> result.addSchema(connector.topic(seen.topic()), version, fields));
  }

  /** Add the dead letter topic: Connect copies the bytes of records that fail, unchanged. */
  private void addDeadLetters(final SymbolicRecord copied, final String topic) {
    try {
      final Optional<String> deadLetters = connector.options().text(DEAD_LETTER_TOPIC);
      if (deadLetters.isPresent()) {
        final Dataset input = connector.topic(topic);
        result.addPair(
            input,
            connector.deadLetterTopic(deadLetters.get()),
            ConnectorLineageBuilder.columnLineage(
                ColumnOrigins.ofTopic(copied), input, TOPIC_COLUMNS, Set.of()));
      }
    } catch (final UnusableOptionException e) {
      result.addNote("The dead letter topic is unknown: " + e.getMessage() + ".");
    }
  }

  private void addTargets(final String topic, final List<SymbolicRecord> branches) {
    final Dataset input = connector.topic(topic);
    final Optional<Dataset> other = declared.forTopic(topic, connector);
    if (branches.isEmpty()) {
      result.addNote("No record of topic '" + topic + "' passes the transforms.");
    } else if (other.isPresent()) {
      result.addPair(
          input,
          other.get(),
          TopicOnlyExtractor.unknownColumns("The columns of declared datasets are unknown."));
    } else {
      TransformChain.byTopic(branches).forEach(record -> addTargets(topic, input, record));
    }
  }

  private void addTargets(final String topic, final Dataset input, final SymbolicRecord record) {
    result.addNotes(record.reasons());
    try {
      final Resolution<SinkTarget> targets = resolver.sinkTargets(connector, topic, record);
      result.addNotes(targets.notes());
      targets.found().forEach(target -> addTarget(input, record, target));
    } catch (final UnusableOptionException e) {
      result.addNote("The datasets that the connector writes are unknown: " + e.getMessage() + ".");
    }
  }

  /**
   * Add metadata of a record, which no observed schema contains, as a column of the topic if it
   * becomes a column of the output: consumers drop columns whose source does not exist.
   */
  private void addMetadataColumn(final Dataset topic, final Origin origin) {
    if (origin.path().isEmpty() && METADATA_TYPES.containsKey(origin.part())) {
      result.addColumn(topic, Field.of(origin.columnName(), METADATA_TYPES.get(origin.part())));
    }
  }

  private void addTarget(
      final Dataset input, final SymbolicRecord record, final SinkTarget target) {
    final Set<Contribution> filters = new TreeSet<>(record.filters());
    filters.addAll(target.filters());
    final ColumnOrigins columns = ColumnOrigins.of(target.columns());
    result.addPair(
        input,
        target.dataset(),
        ConnectorLineageBuilder.columnLineage(columns, input, TOPIC_COLUMNS, filters));
    filters.forEach(filter -> addMetadataColumn(input, filter.origin()));
    columns
        .known()
        .values()
        .forEach(from -> from.forEach(part -> addMetadataColumn(input, part.origin())));
    result.addSymlinks(target.dataset(), target.symlinks());
    if (target.fixedTable() != null) {
      result.addFixedTable(target.dataset(), target.fixedTable());
    }
    if (target.hasSchema()) {
      SchemaFields.of(target.columns())
          .ifPresent(fields -> result.addSchema(target.dataset(), null, fields));
    }
  }
}
