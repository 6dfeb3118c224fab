// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import dev.lineagelab.flink.sql.model.Column;
import dev.lineagelab.flink.sql.model.Subtype;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.calcite.rel.core.Uncollect;
import org.apache.calcite.rel.type.RelDataType;

/** What the elements of an ARRAY, a MAP or a MULTISET that become rows are made of. */
final class Unnesting {
  private Unnesting() {}

  /** The columns of {@code UNNEST}, one collection after the other, then the ordinal. */
  static List<Column> of(final Uncollect uncollect, final List<Column> input) {
    final List<Column> columns = new ArrayList<>();
    for (int place = 0; place < input.size(); place++) {
      final RelDataType type =
          uncollect.getInput().getRowType().getFieldList().get(place).getType();
      columns.addAll(elements(input.get(place), type));
    }
    if (uncollect.withOrdinality) {
      columns.add(Column.union(input).through(Subtype.TRANSFORMATION));
    }
    return columns;
  }

  private static List<Column> elements(final Column collection, final RelDataType type) {
    final Column changed = collection.each(Subtype.TRANSFORMATION, false);
    final RelDataType element = type.getComponentType();
    if (element != null && !element.isStruct()) {
      return List.of(changed);
    }
    // Keys and values of a MAP, or fields of a ROW.
    final int width = element == null ? 2 : element.getFieldCount();
    if (element != null && changed.fields() != null && changed.fields().size() == width) {
      return changed.fields();
    }
    final Column whole = changed.through(Subtype.TRANSFORMATION);
    final Column each =
        collection.isSource()
            ? whole
            : whole.with(Column.unknown("the elements of a collection of " + type));
    return Stream.generate(() -> each).limit(width).toList();
  }
}
