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
 * A record at some place of a chain, as far as it is known.
 *
 * @param metadata partition, offset and timestamp
 * @param headers what is known of them: whether there is one of that name
 * @param tombstone whether there is no value; null if there may or may not be one
 * @param withSchema the sides that have a schema for sure, as far as they are there. Transforms
 *     fail on a schema where they take a map as it is, so that more is known of what they let
 *     through
 * @param filters on what it depended that the record got here
 * @param reasons why more is not known, in sentences for people
 */
public record SymbolicRecord(
    TopicName topic,
    SymbolicValue key,
    SymbolicValue value,
    Map<Part, SymbolicValue> metadata,
    Map<String, Boolean> headers,
    Boolean tombstone,
    Set<Side> withSchema,
    SortedSet<Contribution> filters,
    SortedSet<String> reasons) {
  private static final Map<Part, String> METADATA =
      Map.of(Part.PARTITION, "int32", Part.OFFSET, "int64", Part.TIMESTAMP, "timestamp");

  /** Key or value: transforms come in one class for each. */
  public enum Side {
    KEY,
    VALUE;

    /** Those that have a schema; null is none. */
    public static Set<Side> withSchema(final Schema keySchema, final Schema valueSchema) {
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
    withSchema = Set.copyOf(withSchema);
    filters = Collections.unmodifiableSortedSet(new TreeSet<>(filters));
    reasons = Collections.unmodifiableSortedSet(new TreeSet<>(reasons));
  }

  /** A record of a topic as a connector reads or makes it, with anything in it. */
  public static SymbolicRecord startingAs(final String topic) {
    return startingAs(
        topic, Passthrough.of(Origin.of(Part.KEY)), Passthrough.of(Origin.of(Part.VALUE)));
  }

  /** A record with a key and a value of which something is known. */
  public static SymbolicRecord startingAs(
      final String topic, final SymbolicValue key, final SymbolicValue value) {
    final Map<Part, SymbolicValue> metadata = new EnumMap<>(Part.class);
    METADATA.forEach((part, type) -> metadata.put(part, Leaf.of(type, Origin.of(part))));
    return new SymbolicRecord(
        new TopicName.Known(topic),
        key,
        value,
        metadata,
        Map.of(),
        null,
        Set.of(),
        Collections.emptySortedSet(),
        Collections.emptySortedSet());
  }

  /** A record of which nothing is known any more. */
  public SymbolicRecord lost(final String reason) {
    final Map<Part, SymbolicValue> unknown = new EnumMap<>(Part.class);
    METADATA.forEach((part, type) -> unknown.put(part, new Unknown(type, null, reason)));
    return new SymbolicRecord(
        new TopicName.Unknown(reason),
        Unknown.because(reason),
        Unknown.because(reason),
        unknown,
        Map.of(),
        null,
        withSchema,
        filters,
        with(reasons, reason));
  }

  /** The key or the value. */
  public SymbolicValue side(final Side side) {
    return side == Side.KEY ? key : value;
  }

  /** With another key or value; of a value, whether there is one is as before. */
  public SymbolicRecord with(final Side side, final SymbolicValue shape) {
    return side == Side.KEY
        ? new SymbolicRecord(
            topic, shape, value, metadata, headers, tombstone, withSchema, filters, reasons)
        : new SymbolicRecord(
            topic, key, shape, metadata, headers, tombstone, withSchema, filters, reasons);
  }

  /** With another value, of which is known whether there is one; null if it is not. */
  public SymbolicRecord withValue(final SymbolicValue shape, final Boolean isTombstone) {
    return new SymbolicRecord(
        topic, key, shape, metadata, headers, isTombstone, withSchema, filters, reasons);
  }

  /** With another topic. */
  public SymbolicRecord with(final TopicName name) {
    return new SymbolicRecord(
        name, key, value, metadata, headers, tombstone, withSchema, filters, reasons);
  }

  /** With what is known now of a header. */
  public SymbolicRecord withHeader(final String name, final boolean isThere) {
    final Map<String, Boolean> known = new TreeMap<>(headers);
    known.put(name, isThere);
    return new SymbolicRecord(
        topic, key, value, metadata, known, tombstone, withSchema, filters, reasons);
  }

  /**
   * With the knowledge which sides have a schema. One that was seen behind transforms was there
   * before them: none of those that are known gives a schema to what has none.
   */
  public SymbolicRecord withSchema(final Set<Side> sides) {
    return new SymbolicRecord(
        topic, key, value, metadata, headers, tombstone, sides, filters, reasons);
  }

  /** Whether a key or value has a schema for sure. */
  public boolean hasSchema(final Side side) {
    return withSchema.contains(side);
  }

  /** After it was let through for what a part of it holds. */
  public SymbolicRecord filteredOn(final Contribution contribution) {
    return new SymbolicRecord(
        topic,
        key,
        value,
        metadata,
        headers,
        tombstone,
        withSchema,
        with(filters, contribution),
        reasons);
  }

  /** With one more reason why not more is known. */
  public SymbolicRecord noting(final String reason) {
    return new SymbolicRecord(
        topic,
        key,
        value,
        metadata,
        headers,
        tombstone,
        withSchema,
        filters,
        with(reasons, reason));
  }

  /** A record that may be any of these. At least one must be given. */
  public static SymbolicRecord anyOf(final Collection<SymbolicRecord> states) {
    return combined(states, SymbolicValue.OneOf::of);
  }

  /** The same in less space: which parts come together is forgotten. */
  static SymbolicRecord merged(final Collection<SymbolicRecord> states) {
    return combined(states, SymbolicValueMerger::of);
  }

  private static SymbolicRecord combined(
      final Collection<SymbolicRecord> states,
      final Function<List<SymbolicValue>, SymbolicValue> union) {
    final List<SymbolicRecord> all = List.copyOf(states);
    final SymbolicRecord first = all.get(0);
    if (all.size() == 1) {
      return first;
    }
    final Map<Part, SymbolicValue> metadata = new EnumMap<>(Part.class);
    METADATA
        .keySet()
        .forEach(
            part ->
                metadata.put(
                    part, union.apply(all.stream().map(s -> s.metadata.get(part)).toList())));
    final Map<String, Boolean> headers = new TreeMap<>(first.headers);
    all.forEach(state -> headers.entrySet().retainAll(state.headers.entrySet()));
    final Set<Side> withSchema = EnumSet.allOf(Side.class);
    all.forEach(state -> withSchema.retainAll(state.withSchema));
    final SortedSet<Contribution> filters = new TreeSet<>();
    final SortedSet<String> reasons = new TreeSet<>();
    all.forEach(state -> filters.addAll(state.filters));
    all.forEach(state -> reasons.addAll(state.reasons));
    return new SymbolicRecord(
        all.stream().allMatch(state -> state.topic.equals(first.topic))
            ? first.topic
            : new TopicName.Unknown("The topic depends on the record."),
        union.apply(all.stream().map(SymbolicRecord::key).toList()),
        union.apply(all.stream().map(SymbolicRecord::value).toList()),
        metadata,
        headers,
        null,
        withSchema,
        filters,
        reasons);
  }

  private static <T extends Comparable<T>> SortedSet<T> with(final Set<T> items, final T item) {
    final SortedSet<T> more = new TreeSet<>(items);
    more.add(item);
    return more;
  }
}
