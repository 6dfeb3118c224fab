// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.model;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * What a column of some node of a plan is made of.
 *
 * @param edges of the column as a whole
 * @param fields what each field of a ROW, or of the ROWs in an ARRAY, is made of, in order; null
 *     where they are not told apart
 * @param unknown why a part of what it is made of is not known, for people; empty where all is
 */
public record Column(Set<Edge> edges, List<Column> fields, Set<String> unknown) {
  /** Made of no source. */
  public static final Column CONSTANT = new Column(Set.of(), null, Set.of());

  public Column {
    edges = Set.copyOf(edges);
    fields = fields == null ? null : List.copyOf(fields);
    unknown = Set.copyOf(unknown);
  }

  /** A source's own column, whose fields, if it has any, are not of interest. */
  public static Column of(final Origin origin) {
    return new Column(Set.of(new Edge(origin, Subtype.IDENTITY, false)), null, Set.of());
  }

  /** A source's own column. Each of its fields is an origin of its own. */
  public static Column of(final Origin origin, final List<Column> fields) {
    return new Column(of(origin).edges, fields, Set.of());
  }

  /** A ROW of these fields. */
  public static Column struct(final List<Column> fields) {
    final Column whole = union(fields).flat();
    return new Column(whole.edges, fields, whole.unknown);
  }

  /** Nobody knows what it is made of. */
  public static Column unknown(final String reason) {
    return new Column(Set.of(), null, Set.of(reason));
  }

  /**
   * All that any of the columns is made of; fields are kept where all columns have the same number
   * of them. A constant, as the NULL beside a ROW, adds nothing to any field.
   */
  public static Column union(final Collection<Column> columns) {
    final List<Column> parts = columns.stream().filter(column -> !column.isConstant()).toList();
    final List<List<Column>> structs =
        parts.stream().map(Column::fields).filter(Objects::nonNull).toList();
    final boolean isAligned =
        !structs.isEmpty()
            && structs.size() == parts.size()
            && structs.stream().map(List::size).distinct().count() == 1;
    return new Column(
        parts.stream().flatMap(column -> column.edges.stream()).collect(Collectors.toSet()),
        isAligned ? transposed(structs) : null,
        parts.stream().flatMap(column -> column.unknown.stream()).collect(Collectors.toSet()));
  }

  /** All that any of the columns is made of. */
  public static Column union(final Column... columns) {
    return union(Arrays.asList(columns));
  }

  private static List<Column> transposed(final List<List<Column>> structs) {
    final List<Column> fields = new ArrayList<>();
    for (int place = 0; place < structs.get(0).size(); place++) {
      final int at = place;
      fields.add(union(structs.stream().map(struct -> struct.get(at)).toList()));
    }
    return fields;
  }

  /** Made of no source, as far as all is known. */
  public boolean isConstant() {
    return edges.isEmpty() && unknown.isEmpty();
  }

  /** A source's own column, or field, as it is. */
  public boolean isSource() {
    return unknown.isEmpty()
        && edges.size() == 1
        && edges.iterator().next().subtype() == Subtype.IDENTITY;
  }

  /** A field by its place; empty where the fields are not told apart. */
  public Optional<Column> field(final int place) {
    if (isConstant()) {
      return Optional.of(CONSTANT);
    }
    return fields == null || place >= fields.size()
        ? Optional.empty()
        : Optional.of(fields.get(place));
  }

  /** The result of a function of this column: one value, without fields. */
  public Column through(final Subtype subtype, final boolean masks) {
    return flat().each(subtype, masks);
  }

  /** The result of a function that masks nothing. */
  public Column through(final Subtype subtype) {
    return through(subtype, false);
  }

  /** The result of a function that chooses among values and leaves each field in its place. */
  public Column each(final Subtype subtype, final boolean masks) {
    return every(
        column ->
            new Column(
                column.edges.stream()
                    .map(edge -> edge.through(subtype, masks))
                    .collect(Collectors.toSet()),
                column.fields,
                column.unknown));
  }

  /** This column, and each of its fields, with what decides about it as well. */
  public Column with(final Column other) {
    if (other.isConstant()) {
      return this;
    }
    return every(
        column ->
            new Column(
                joined(column.edges, other.edges),
                column.fields,
                joined(column.unknown, other.unknown)));
  }

  /** The indirect edges of something that this column decides about. */
  public Column deciding(final Subtype subtype) {
    return new Column(
        edges.stream()
            .map(edge -> new Edge(edge.origin(), subtype, false))
            .collect(Collectors.toSet()),
        null,
        unknown);
  }

  private Column flat() {
    return new Column(edges, null, unknown);
  }

  private Column every(final UnaryOperator<Column> change) {
    final List<Column> changed =
        fields == null ? null : fields.stream().map(field -> field.every(change)).toList();
    return change.apply(new Column(edges, changed, unknown));
  }

  private static <T extends Comparable<T>> Set<T> joined(final Set<T> some, final Set<T> more) {
    final Set<T> all = new TreeSet<>(some);
    all.addAll(more);
    return all;
  }
}
