// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.Schema;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.hadoop.HadoopCatalog;
import org.apache.iceberg.types.Types;

/** Iceberg tables in a Hadoop catalog on the local file system. */
final class IcebergLake {
  private static final Schema COLUMNS =
      new Schema(
          Types.NestedField.optional(1, "id", Types.StringType.get()),
          Types.NestedField.optional(2, "price", Types.DecimalType.of(10, 2)));

  private IcebergLake() {}

  static void create(final Path warehouse, final String database, final String table)
      throws IOException {
    try (HadoopCatalog catalog = open(warehouse)) {
      catalog.createTable(TableIdentifier.of(database, table), COLUMNS);
    }
  }

  static List<String> tables(final Path warehouse, final String database) throws IOException {
    try (HadoopCatalog catalog = open(warehouse)) {
      return catalog.listTables(Namespace.of(database)).stream()
          .map(TableIdentifier::name)
          .toList();
    }
  }

  private static HadoopCatalog open(final Path warehouse) {
    return new HadoopCatalog(new Configuration(), warehouse.toString());
  }
}
