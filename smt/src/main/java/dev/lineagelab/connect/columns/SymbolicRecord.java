// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.Passthrough;
import dev.lineagelab.connect.columns.SymbolicValue.Unknown;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.apache.kafka.connect.data.Schema;

/**
 * Record at one place of the transform chain, as far as it can be known without running the chain.
 * Immutable: methods return changed copies.
 *
 * @param metadata partition, offset and timestamp
 * @param headers presence of headers by name; unknown if absent
 * @param tombstone true if the value is null, false if it is not; null if unknown
 * @param schemaSides sides that are known to have a schema unless they are null. Transforms reject
 *     on a schema what they accept in a schemaless map, so more can be inferred
 * @param filters contributions that decided whether the record passed
 * @param reasons why parts of the record are unknown, as sentences for users
 */
public record SymbolicRecord(
    TopicName topic,
    SymbolicValue key,
    SymbolicValue value,
    Map<Part, SymbolicValue> metadata,
    Map<String, Boolean> headers,
    Boolean tombstone,
    Set<Side> schemaSides,
    SortedSet<Contribution> filters,
    SortedSet<String> reasons) {
  /** Type of the column of a topic that has all headers. */
  public static final String HEADERS_TYPE = "array<struct>";

  private static final Map<Part, String> METADATA =
      Map.of(Part.PARTITION, "int32", Part.OFFSET, "int64", Part.TIMESTAMP, "timestamp");

  /** Key or value of a record. Kafka's transforms have one class for each. */
  public enum Side {
    KEY,
    VALUE;

    /** Return the sides whose schema is not null. */
    public static Set<Side> ofSchemas(final Schema keySchema, final Schema valueSchema) {
      final Set<Side> sides = EnumSet.noneOf(Side.class);
      if (keySchema != null) {
        sides.add(KEY);
      }
      if (valueSchema != null) {
        sides.add(VALUE);
      }
      return sides;
    }
  }

  public SymbolicRecord {
    metadata = Collections.unmodifiableMap(new EnumMap<>(metadata));
    headers = Collections.unmodifiableSortedMap(new TreeMap<>(headers));
    schemaSides = Set.copyOf(schemaSides);
    filters = Collections.unmodifiableSortedSet(new TreeSet<>(filters));
    reasons = Collections.unmodifiableSortedSet(new TreeSet<>(reasons));
  }

  /** Return a record of a topic as a connector reads or creates it, with arbitrary content. */
  public static SymbolicRecord initial(final String topic) {
    return initial(
        topic, Passthrough.of(Origin.of(Part.KEY)), Passthrough.of(Origin.of(Part.VALUE)));
  }

  /** Return a record of a topic with a partially known key and value. */
  public static SymbolicRecord initial(
      final String topic, final SymbolicValue key, final SymbolicValue value) {
    final Builder builder = new Builder();
    builder.topic = new TopicName.Known(topic);
    builder.key = key;
    builder.value = value;
    METADATA.forEach((part, type) -> builder.metadata.put(part, Leaf.of(type, Origin.of(part))));
    return builder.build();
  }

  /** Return a record whose parts are all unknown. */
  public SymbolicRecord asUnknown(final String reason) {
    final Builder builder = toBuilder();
    builder.topic = new TopicName.Unknown(reason);
    builder.key = Unknown.because(reason);
    builder.value = Unknown.because(reason);
    METADATA.forEach((part, type) -> builder.metadata.put(part, new Unknown(type, null, reason)));
    builder.headers.clear();
    builder.tombstone = null;
    builder.reasons.add(reason);
    return builder.build();
  }

  /** Return the key or the value. */
  public SymbolicValue side(final Side side) {
    return side == Side.KEY ? key : value;
  }

  /** Return a copy with another key or value; whether the value is null does not change. */
  public SymbolicRecord withSide(final Side side, final SymbolicValue changed) {
    final Builder builder = toBuilder();
    if (side == Side.KEY) {
      builder.key = changed;
    } else {
      builder.value = changed;
    }
    return builder.build();
  }

  /**
   * Return a copy with another value.
   *
   * @param isTombstone true if the value is null, false if it is not; null if unknown
   */
  public SymbolicRecord withValue(final SymbolicValue changed, final Boolean isTombstone) {
    final Builder builder = toBuilder();
    builder.value = changed;
    builder.tombstone = isTombstone;
    return builder.build();
  }

  /** Return a copy with another topic. */
  public SymbolicRecord withTopic(final TopicName changed) {
    final Builder builder = toBuilder();
    builder.topic = changed;
    return builder.build();
  }

  /** Return a copy with another partition, offset or timestamp. */
  public SymbolicRecord withMetadata(final Part part, final SymbolicValue changed) {
    final Builder builder = toBuilder();
    builder.metadata.put(part, changed);
    return builder.build();
  }

  /** Return a copy in which the presence of a header is known. */
  public SymbolicRecord withHeader(final String name, final boolean isPresent) {
    final Builder builder = toBuilder();
    builder.headers.put(name, isPresent);
    return builder.build();
  }

  /** Return all headers as one value; unknown if a transform has changed them. */
  public SymbolicValue allHeaders() {
    return headers.isEmpty()
        ? Leaf.of(HEADERS_TYPE, Origin.of(Part.HEADERS))
        : new Unknown(
            HEADERS_TYPE, null, "A transform changes headers; what they contain is unknown.");
  }

  /**
   * Return a copy with known schema sides. A schema that was observed after some transforms existed
   * before them: no supported transform adds a schema to a schemaless value.
   */
  public SymbolicRecord withSchemaSides(final Set<Side> sides) {
    final Builder builder = toBuilder();
    builder.schemaSides = sides;
    return builder.build();
  }

  /** Return true if a side is known to have a schema. */
  public boolean hasSchema(final Side side) {
    return schemaSides.contains(side);
  }

  /** Return a copy that passed a filter because of a part of its content. */
  public SymbolicRecord withFilter(final Contribution contribution) {
    final Builder builder = toBuilder();
    builder.filters.add(contribution);
    return builder.build();
  }

  /** Return a copy with one more reason. */
  public SymbolicRecord withReason(final String reason) {
    final Builder builder = toBuilder();
    builder.reasons.add(reason);
    return builder.build();
  }

  /**
   * Return a record that may be any of these.
   *
   * @param records at least one
   */
  public static SymbolicRecord anyOf(final Collection<SymbolicRecord> records) {
    return union(records, SymbolicValue.OneOf::of);
  }

  /** Return a smaller union of these records, which forgets the combinations of their fields. */
  static SymbolicRecord merged(final Collection<SymbolicRecord> records) {
    return union(records, SymbolicValueMerger::merge);
  }

  private static SymbolicRecord union(
      final Collection<SymbolicRecord> records,
      final Function<List<SymbolicValue>, SymbolicValue> unionOfValues) {
    final List<SymbolicRecord> all = List.copyOf(records);
    final SymbolicRecord first = all.get(0);
    if (all.size() == 1) {
      return first;
    }
    final Builder builder = first.toBuilder();
    if (all.stream().anyMatch(record -> !record.topic.equals(first.topic))) {
      builder.topic = new TopicName.Unknown("The topic depends on the record.");
    }
    builder.key = unionOfValues.apply(all.stream().map(SymbolicRecord::key).toList());
    builder.value = unionOfValues.apply(all.stream().map(SymbolicRecord::value).toList());
    builder.metadata.replaceAll(
        (part, value) ->
            unionOfValues.apply(all.stream().map(record -> record.metadata.get(part)).toList()));
    builder.tombstone = null;
    builder.schemaSides = EnumSet.allOf(Side.class);
    for (final SymbolicRecord record : all) {
      builder.headers.entrySet().retainAll(record.headers.entrySet());
      builder.schemaSides.retainAll(record.schemaSides);
      builder.filters.addAll(record.filters);
      builder.reasons.addAll(record.reasons);
    }
    return builder.build();
  }

  private Builder toBuilder() {
    final Builder builder = new Builder();
    builder.topic = topic;
    builder.key = key;
    builder.value = value;
    builder.metadata.putAll(metadata);
    builder.headers.putAll(headers);
    builder.tombstone = tombstone;
    builder.schemaSides = schemaSides;
    builder.filters.addAll(filters);
    builder.reasons.addAll(reasons);
    return builder;
  }

  private static final class Builder {
    private TopicName topic;
    private SymbolicValue key;
    private SymbolicValue value;
    private final Map<Part, SymbolicValue> metadata = new EnumMap<>(Part.class);
    private final Map<String, Boolean> headers = new TreeMap<>();
    private Boolean tombstone;
    private Set<Side> schemaSides = Set.of();
    private final SortedSet<Contribution> filters = new TreeSet<>();
    private final SortedSet<String> reasons = new TreeSet<>();

    private SymbolicRecord build() {
      return new SymbolicRecord(
          topic, key, value, metadata, headers, tombstone, schemaSides, filters, reasons);
    }
  }
}
