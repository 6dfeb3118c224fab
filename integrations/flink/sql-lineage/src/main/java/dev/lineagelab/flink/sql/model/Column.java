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
 * Lineage of a column of a plan node.
 *
 * @param edges edges to the column as a whole
 * @param fields lineage of each field of a ROW, or of the ROWs in an ARRAY, in order; null if the
 *     fields are not tracked separately
 * @param unknown human-readable reasons why the lineage is incomplete; empty if it is complete
 */
public record Column(Set<Edge> edges, List<Column> fields, Set<String> unknown) {
  /** Column without sources. */
  public static final Column CONSTANT = new Column(Set.of(), null, Set.of());

  public Column {
    edges = Set.copyOf(edges);
    fields = fields == null ? null : List.copyOf(fields);
    unknown = Set.copyOf(unknown);
  }

  /** Returns the column of a source, without tracking its fields. */
  public static Column of(final Origin origin) {
    return new Column(Set.of(new Edge(origin, Subtype.IDENTITY, false)), null, Set.of());
  }

  /** Returns the column of a source whose fields are separate origins. */
  public static Column of(final Origin origin, final List<Column> fields) {
    return new Column(of(origin).edges, fields, Set.of());
  }

  /** Returns a ROW of the given fields. */
  public static Column struct(final List<Column> fields) {
    final Column whole = union(fields).withoutFields();
    return new Column(whole.edges, fields, whole.unknown);
  }

  /** Returns a column of unknown lineage. */
  public static Column unknown(final String reason) {
    return new Column(Set.of(), null, Set.of(reason));
  }

  /**
   * Returns the union of the columns' lineage. Fields are merged by position if all columns have
   * the same number of them. Constants, such as a NULL instead of a ROW, are ignored.
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

  /** Returns the union of the columns' lineage. */
  public static Column union(final Column... columns) {
    return union(Arrays.asList(columns));
  }

  private static List<Column> transposed(final List<List<Column>> structs) {
    final List<Column> fields = new ArrayList<>();
    for (int index = 0; index < structs.get(0).size(); index++) {
      final int at = index;
      fields.add(union(structs.stream().map(struct -> struct.get(at)).toList()));
    }
    return fields;
  }

  /** Returns whether the column has no sources and its lineage is complete. */
  public boolean isConstant() {
    return edges.isEmpty() && unknown.isEmpty();
  }

  /** Returns whether the column is an unchanged column or field of a source. */
  public boolean isSource() {
    return unknown.isEmpty()
        && edges.size() == 1
        && edges.iterator().next().subtype() == Subtype.IDENTITY;
  }

  /** Returns a field by its index; empty if the fields are not tracked separately. */
  public Optional<Column> field(final int index) {
    if (isConstant()) {
      return Optional.of(CONSTANT);
    }
    return fields == null || index >= fields.size()
        ? Optional.empty()
        : Optional.of(fields.get(index));
  }

  /** Returns the result of a function of this column: a single value, without fields. */
  public Column derive(final Subtype subtype, final boolean masks) {
    return withoutFields().deriveEach(subtype, masks);
  }

  /** Returns the result of a function that does not mask its input. */
  public Column derive(final Subtype subtype) {
    return derive(subtype, false);
  }

  /** Returns the result of a function that selects among values and preserves their fields. */
  public Column deriveEach(final Subtype subtype, final boolean masks) {
    return mapDeep(
        column ->
            new Column(
                column.edges.stream()
                    .map(edge -> edge.derive(subtype, masks))
                    .collect(Collectors.toSet()),
                column.fields,
                column.unknown));
  }

  /** Returns this column with the dependencies of another one added to it and to its fields. */
  public Column with(final Column other) {
    if (other.isConstant()) {
      return this;
    }
    return mapDeep(
        column ->
            new Column(
                joined(column.edges, other.edges),
                column.fields,
                joined(column.unknown, other.unknown)));
  }

  /** Returns the indirect dependency on this column, as edges of the given subtype. */
  public Column indirect(final Subtype subtype) {
    return new Column(
        edges.stream()
            .map(edge -> new Edge(edge.origin(), subtype, false))
            .collect(Collectors.toSet()),
        null,
        unknown);
  }

  private Column withoutFields() {
    return new Column(edges, null, unknown);
  }

  private Column mapDeep(final UnaryOperator<Column> change) {
    final List<Column> changed =
        fields == null ? null : fields.stream().map(field -> field.mapDeep(change)).toList();
    return change.apply(new Column(edges, changed, unknown));
  }

  private static <T extends Comparable<T>> Set<T> joined(final Set<T> some, final Set<T> more) {
    final Set<T> all = new TreeSet<>(some);
    all.addAll(more);
    return all;
  }
}
