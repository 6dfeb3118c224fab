// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import dev.lineagelab.flink.sql.model.Field;
import dev.lineagelab.flink.sql.model.Table;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.catalog.Catalog;
import org.apache.flink.table.catalog.CatalogManager;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.catalog.Column.ComputedColumn;
import org.apache.flink.table.catalog.Column.MetadataColumn;
import org.apache.flink.table.catalog.ContextResolvedTable;
import org.apache.flink.table.catalog.ObjectIdentifier;
import org.apache.flink.table.catalog.UniqueConstraint;

/** Converter of Flink tables into the model, including their physical dataset. */
final class TableResolver {
  private static final String CONNECTOR = "connector";
  private static final String ICEBERG = "iceberg";
  static final String LOCATION = "location";

  private static final boolean HAS_ICEBERG = isOnClassPath("org.apache.iceberg.flink.FlinkCatalog");

  /** Allow-list of reported options: others may contain credentials. */
  private static final List<String> REPORTED_OPTIONS =
      List.of(
          "topic",
          "topic-pattern",
          "properties.bootstrap.servers",
          "format",
          "value.format",
          "key.format",
          "key.fields",
          "key.fields-prefix",
          "value.fields-include",
          "path",
          "url",
          "hostname",
          "port",
          "database-name",
          "schema-name",
          "table-name",
          "hosts",
          "uri",
          "database",
          "collection",
          "index");

  private final CatalogManager catalogs;

  TableResolver(final CatalogManager catalogs) {
    this.catalogs = catalogs;
  }

  Table of(final ContextResolvedTable table) {
    final Map<String, String> given = MissingConnector.original(table.getTable().getOptions());
    final Map<String, String> reported = new LinkedHashMap<>();
    for (final String option : REPORTED_OPTIONS) {
      if (given.containsKey(option)) {
        reported.put(option, Secrets.withoutUserInfo(given.get(option)));
      }
    }
    final ObjectIdentifier path = table.getIdentifier();
    final Catalog iceberg = table.isTemporary() ? null : icebergCatalog(path);
    final List<Field> fields =
        table.getResolvedSchema().getColumns().stream().map(TableResolver::field).toList();
    return new Table(
        List.of(path.getCatalogName(), path.getDatabaseName(), path.getObjectName()),
        iceberg == null ? given.get(CONNECTOR) : ICEBERG,
        reported,
        table
            .getResolvedSchema()
            .getPrimaryKey()
            .map(UniqueConstraint::getColumns)
            .orElse(List.of()),
        iceberg == null ? given.get(LOCATION) : IcebergTables.location(iceberg, path, given),
        fields);
  }

  private static Field field(final Column column) {
    final String type = column.getDataType().getLogicalType().asSummaryString();
    if (column instanceof final MetadataColumn metadata) {
      final String key = metadata.getMetadataKey().orElse(column.getName());
      return new Field(column.getName(), type, Field.Kind.METADATA, key);
    }
    final boolean isComputed = column instanceof ComputedColumn;
    return new Field(
        column.getName(), type, isComputed ? Field.Kind.COMPUTED : Field.Kind.PHYSICAL, null);
  }

  /** Returns the Iceberg catalog of a table; null if the table is in another catalog. */
  private Catalog icebergCatalog(final ObjectIdentifier path) {
    final Catalog catalog = catalogs.getCatalog(path.getCatalogName()).orElse(null);
    final Catalog real =
        catalog instanceof final CatalogOverlay overlay ? overlay.underlying() : catalog;
    return HAS_ICEBERG && IcebergTables.isIceberg(real) ? real : null;
  }

  private static boolean isOnClassPath(final String name) {
    try {
      Class.forName(name, false, TableResolver.class.getClassLoader());
      return true;
    } catch (final ClassNotFoundException missing) {
      return false;
    }
  }
}
