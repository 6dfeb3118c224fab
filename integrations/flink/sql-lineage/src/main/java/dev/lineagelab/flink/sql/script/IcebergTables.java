// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import java.util.Map;
import org.apache.flink.table.catalog.Catalog;
import org.apache.flink.table.catalog.ObjectIdentifier;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.exceptions.NoSuchTableException;
import org.apache.iceberg.flink.FlinkCatalog;

/** Tables of Iceberg catalogs. Not to be loaded without Iceberg on the class path. */
final class IcebergTables {
  private IcebergTables() {}

  static boolean isIceberg(final Catalog catalog) {
    return catalog instanceof FlinkCatalog;
  }

  /** Returns the location from the catalog; for a table not created yet, that of its options. */
  static String location(
      final Catalog catalog, final ObjectIdentifier path, final Map<String, String> options) {
    final Namespace namespace = Namespace.of(path.getDatabaseName().split("\\."));
    try {
      return ((FlinkCatalog) catalog)
          .catalog()
          .loadTable(TableIdentifier.of(namespace, path.getObjectName()))
          .location();
    } catch (final NoSuchTableException missing) {
      return options.get(TableResolver.LOCATION);
    }
  }
}
