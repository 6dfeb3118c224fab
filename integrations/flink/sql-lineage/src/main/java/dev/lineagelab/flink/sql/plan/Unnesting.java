// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import dev.lineagelab.flink.sql.model.Column;
import dev.lineagelab.flink.sql.model.Subtype;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.Uncollect;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.sql.SqlKind;

/** Lineage of {@code UNNEST} over ARRAY, MAP and MULTISET columns. */
final class Unnesting {
  private Unnesting() {}

  /** Returns whether all collections are array constructors, so that values do not affect rows. */
  static boolean isOfConstantSize(final Uncollect uncollect) {
    return uncollect.getInput() instanceof final Project project
        && project.getProjects().stream()
            .allMatch(collection -> collection.isA(SqlKind.ARRAY_VALUE_CONSTRUCTOR));
  }

  /** Returns the columns of {@code UNNEST}: those of each collection in order, then the ordinal. */
  static List<Column> of(final Uncollect uncollect, final List<Column> input) {
    final List<Column> columns = new ArrayList<>();
    for (int index = 0; index < input.size(); index++) {
      final RelDataType type =
          uncollect.getInput().getRowType().getFieldList().get(index).getType();
      columns.addAll(elements(input.get(index), type));
    }
    if (uncollect.withOrdinality) {
      columns.add(Column.union(input).derive(Subtype.TRANSFORMATION));
    }
    return columns;
  }

  private static List<Column> elements(final Column collection, final RelDataType type) {
    final Column changed = collection.deriveEach(Subtype.TRANSFORMATION, false);
    final RelDataType element = type.getComponentType();
    if (element != null && !element.isStruct()) {
      return List.of(changed);
    }
    // Keys and values of a MAP, or fields of a ROW.
    final int width = element == null ? 2 : element.getFieldCount();
    if (element != null && changed.fields() != null && changed.fields().size() == width) {
      return changed.fields();
    }
    final Column whole = changed.derive(Subtype.TRANSFORMATION);
    final Column each =
        collection.isSource()
            ? whole
            : whole.with(Column.unknown("the elements of a collection of " + type));
    return Stream.generate(() -> each).limit(width).toList();
  }
}
