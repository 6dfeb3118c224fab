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

/** The tables that a query reads, each once. */
final class Sources {
  /** Before a metadata key that a physical column is called as well. */
  private static final String METADATA_PREFIX = "$metadata$";

  private final Function<ContextResolvedTable, Table> tables;
  private final List<Table> found = new ArrayList<>();

  Sources(final Function<ContextResolvedTable, Table> tables) {
    this.tables = tables;
  }

  List<Table> found() {
    return found;
  }

  /** The columns that a scan gives: the stored ones, then the metadata that the table declares. */
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
    final long stored =
        table.fields().stream().filter(field -> field.kind() == Field.Kind.PHYSICAL).count();
    return scan.getRowType().getFieldList().stream()
        .map(
            field -> {
              final boolean isMetadata = field.getIndex() >= stored;
              final String name = field.getName();
              return column(
                  Origin.of(source, isMetadata ? declared(table, name) : name), field.getType());
            })
        .toList();
  }

  /** A scan calls metadata by its key, the table by the name that its user chose. */
  private static String declared(final Table table, final String scanned) {
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

  /** The ROW type, or that of the ROWs in an ARRAY; null for all else. */
  private static RelDataType structOf(final RelDataType type) {
    if (type.isStruct()) {
      return type;
    }
    final boolean isArray = type.getSqlTypeName() == SqlTypeName.ARRAY;
    return isArray && type.getComponentType().isStruct() ? type.getComponentType() : null;
  }
}
