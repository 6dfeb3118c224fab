// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Reads tables of Iceberg catalogs. Used by one thread. */
final class TableFinder {
  private static final int MAX_CATALOGS = 100;

  /** Separator of the levels of a namespace in the path of a request. */
  private static final String LEVELS = "\u001f";

  private final RegistryHttp http;
  private final Map<TableCatalog, String> roots = new HashMap<>();

  TableFinder(final RegistryHttp http) {
    this.http = http;
  }

  /**
   * Return the columns of a table; empty if the table, or its namespace, does not exist.
   *
   * @param table with its namespace, such as {@code sales.orders}
   * @throws RegistryException if the catalog cannot answer
   */
  Optional<TableColumns> find(final TableCatalog catalog, final String table)
      throws RegistryException, InterruptedException {
    final int dot = table.lastIndexOf('.');
    if (dot <= 0) {
      throw RegistryException.permanent("the table's name has no namespace");
    }
    final String namespace = table.substring(0, dot).replace(".", LEVELS);
    final String address =
        root(catalog)
            + "/namespaces/"
            + encoded(namespace)
            + "/tables/"
            + encoded(table.substring(dot + 1));
    final Optional<JsonNode> answer = get(catalog, address);
    return answer.isPresent() ? Optional.of(TableColumns.of(answer.get())) : Optional.empty();
  }

  /** Return the address below which the catalog's API is, as the catalog's configuration says. */
  private String root(final TableCatalog catalog) throws RegistryException, InterruptedException {
    final String known = roots.get(catalog);
    if (known != null) {
      return known;
    }
    final String query =
        catalog.warehouse().isEmpty() ? "" : "?warehouse=" + encoded(catalog.warehouse());
    final String address = catalog.url() + "/v1/config" + query;
    final JsonNode config =
        get(catalog, address)
            .orElseThrow(() -> RegistryException.retriable("GET " + address + ": not found", null));
    final String url = setting(config, "uri").orElse(catalog.url()).replaceFirst("/+$", "");
    final String root = url + "/v1" + setting(config, "prefix").map(text -> "/" + text).orElse("");
    if (roots.size() >= MAX_CATALOGS) {
      roots.clear();
    }
    roots.put(catalog, root);
    return root;
  }

  private Optional<JsonNode> get(final TableCatalog catalog, final String address)
      throws RegistryException, InterruptedException {
    return http.get(address, catalog.authorization(), RegistryTls.NONE);
  }

  private static Optional<String> setting(final JsonNode config, final String name) {
    final String text =
        config.path("overrides").path(name).asText(config.path("defaults").path(name).asText(""));
    return text.isEmpty() ? Optional.empty() : Optional.of(text);
  }

  private static String encoded(final String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
