// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.UnusableOptionException;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.Symlink;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Table of an Iceberg catalog: its storage location if the catalog type determines it, and its
 * name.
 *
 * <p>Locations are the defaults of each catalog; a table that was created elsewhere is known to the
 * catalog only.
 */
record IcebergTable(Dataset dataset, List<Symlink> symlinks) {
  private static final String TABLE = "TABLE";

  /**
   * Resolve a table.
   *
   * @param name with its namespace, such as {@code sales.orders}
   * @throws UnusableOptionException if neither location nor catalog is known
   */
  static IcebergTable of(final ConnectorContext connector, final String name) {
    final ConnectorOptions catalog = connector.options().withPrefix("iceberg.catalog.");
    final String kind = kind(catalog);
    final Optional<Dataset> logical =
        catalog.text("uri").map(uri -> connector.dataset(logicalNamespace(kind, uri), name));
    final Optional<Dataset> place =
        catalog
            .text("warehouse")
            .filter(warehouse -> warehouse.contains("://") || warehouse.startsWith("/"))
            .filter(warehouse -> hasPlainPaths(kind))
            .map(warehouse -> place(connector, warehouse, path(kind, name)));
    return new IcebergTable(
        place
            .or(() -> logical)
            .orElseThrow(
                () ->
                    new UnusableOptionException(
                        "the catalog's options do not determine the location of tables")),
        place.isPresent()
            ? logical.stream().map(d -> new Symlink(d.namespace(), d.name(), TABLE)).toList()
            : List.of());
  }

  private static String kind(final ConnectorOptions catalog) {
    final String implementation = catalog.text("catalog-impl").orElse("");
    final String simple = implementation.substring(implementation.lastIndexOf('.') + 1);
    return catalog.text("type").orElse(simple).toLowerCase(Locale.ROOT);
  }

  /** Return false for Nessie, which adds a random suffix to each location. */
  private static boolean hasPlainPaths(final String kind) {
    return !kind.startsWith("nessie");
  }

  /** Return the path below the warehouse; Hive and Glue add ".db" to the folder of a database. */
  private static String path(final String kind, final String name) {
    final int dot = name.lastIndexOf('.');
    final boolean hasEnding = kind.startsWith("hive") || kind.startsWith("glue");
    return hasEnding && dot > 0
        ? name.substring(0, dot) + ".db/" + name.substring(dot + 1)
        : name.replace('.', '/');
  }

  private static String logicalNamespace(final String kind, final String uri) {
    return kind.startsWith("hive")
        ? "hive://" + ServerAddress.hostAndPort(uri, 9083)
        : withoutSecrets(uri);
  }

  private static String withoutSecrets(final String uri) {
    final int query = uri.indexOf('?');
    final String plain = query < 0 ? uri : uri.substring(0, query);
    return plain.replaceFirst("//[^/@]*@", "//").replaceFirst("/+$", "");
  }

  private static Dataset place(
      final ConnectorContext connector, final String warehouse, final String path) {
    final int scheme = warehouse.indexOf("://");
    if (scheme < 0 || warehouse.startsWith("file:")) {
      final String root = scheme < 0 ? warehouse : warehouse.substring(scheme + 3);
      return connector.dataset("file", root.replaceFirst("/+$", "") + "/" + path);
    }
    final String name = warehouse.substring(0, scheme).replaceFirst("^s3[an]$", "s3");
    final String rest = warehouse.substring(scheme + 3);
    final String bucket = rest.split("/", 2)[0];
    final String root = ServerAddress.path(warehouse);
    return connector.dataset(name + "://" + bucket, root.isEmpty() ? path : root + "/" + path);
  }
}
