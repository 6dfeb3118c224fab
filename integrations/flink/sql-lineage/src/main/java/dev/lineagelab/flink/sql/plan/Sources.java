// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import dev.lineagelab.flink.sql.model.Column;
import dev.lineagelab.flink.sql.model.Field;
import dev.lineagelab.flink.sql.model.Origin;
import dev.lineagelab.flink.sql.model.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.sql.type.SqlTypeName;
import org.apache.flink.table.catalog.ContextResolvedTable;
import org.apache.flink.table.planner.plan.schema.TableSourceTable;

/** Registry of the distinct tables that a query reads. */
final class Sources {
  /** Prefix that the planner adds to a metadata key that collides with a physical column. */
  private static final String METADATA_PREFIX = "$metadata$";

  private final Function<ContextResolvedTable, Table> tables;
  private final List<Table> found = new ArrayList<>();

  Sources(final Function<ContextResolvedTable, Table> tables) {
    this.tables = tables;
  }

  List<Table> found() {
    return found;
  }

  /** Returns the columns of a scan: physical columns, followed by declared metadata columns. */
  List<Column> scan(final TableScan scan) {
    final TableSourceTable relation = scan.getTable().unwrap(TableSourceTable.class);
    if (relation == null) {
      final String name = String.join(".", scan.getTable().getQualifiedName());
      final Column unknown = Column.unknown("a source that is no connector's table: " + name);
      return scan.getRowType().getFieldList().stream().map(field -> unknown).toList();
    }
    final Table table = tables.apply(relation.contextResolvedTable());
    final int source = found.indexOf(table) >= 0 ? found.indexOf(table) : found.size();
    if (source == found.size()) {
      found.add(table);
    }
    final long physical =
        table.fields().stream().filter(field -> field.kind() == Field.Kind.PHYSICAL).count();
    return scan.getRowType().getFieldList().stream()
        .map(
            field -> {
              final boolean isMetadata = field.getIndex() >= physical;
              final String name = field.getName();
              return column(
                  Origin.of(source, isMetadata ? columnName(table, name) : name), field.getType());
            })
        .toList();
  }

  /** Returns the declared column name of scanned metadata, which the scan names by its key. */
  private static String columnName(final Table table, final String scanned) {
    final String key =
        scanned.startsWith(METADATA_PREFIX) ? scanned.substring(METADATA_PREFIX.length()) : scanned;
    return table.fields().stream()
        .filter(field -> key.equals(field.metadataKey()))
        .map(Field::name)
        .findFirst()
        .orElse(key);
  }

  private static Column column(final Origin origin, final RelDataType type) {
    final RelDataType struct = structOf(type);
    if (struct == null) {
      return Column.of(origin);
    }
    final List<Column> fields = new ArrayList<>();
    for (final RelDataTypeField field : struct.getFieldList()) {
      fields.add(column(origin.field(field.getName()), field.getType()));
    }
    return Column.of(origin, fields);
  }

  /** Returns the ROW type, or the type of the ROWs in an ARRAY; null for other types. */
  private static RelDataType structOf(final RelDataType type) {
    if (type.isStruct()) {
      return type;
    }
    final boolean isArray = type.getSqlTypeName() == SqlTypeName.ARRAY;
    return isArray && type.getComponentType().isStruct() ? type.getComponentType() : null;
  }
}
