// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Columns of an Iceberg table.
 *
 * @param byName columns and fields of structs, by the name in which their letters' case is ignored
 * @param others dotted paths whose fields are not listed: lists and maps
 */
record TableColumns(Map<String, String> byName, List<String> others) {
  private static final String NAME_MAPPING = "schema.name-mapping.default";

  /**
   * Read the current schema.
   *
   * @param table response of the catalog
   * @throws RegistryException if it has none, or a name mapping, by which the sink finds columns
   */
  static TableColumns of(final JsonNode table) throws RegistryException {
    final JsonNode metadata = table.path("metadata");
    if (metadata.path("properties").has(NAME_MAPPING)) {
      throw RegistryException.permanent("the table has a name mapping");
    }
    final JsonNode current = metadata.path("current-schema-id");
    for (final JsonNode schema : metadata.path("schemas")) {
      if (schema.path("schema-id").equals(current)) {
        final Map<String, String> names = new TreeMap<>();
        final List<String> others = new ArrayList<>();
        collect(schema, "", names, others);
        return new TableColumns(names, others);
      }
    }
    throw RegistryException.permanent("the catalog's response has no current schema");
  }

  private static void collect(
      final JsonNode struct,
      final String parent,
      final Map<String, String> names,
      final List<String> others) {
    for (final JsonNode field : struct.path("fields")) {
      final String path = parent + field.path("name").asText();
      names.put(path.toLowerCase(Locale.ROOT), path);
      final JsonNode type = field.path("type");
      if ("struct".equals(type.path("type").asText())) {
        collect(type, path + ".", names, others);
      } else if (type.isObject()) {
        others.add(path);
      }
    }
  }

  /** Return the name in the table of a column that a sink writes; empty if the table lacks it. */
  Optional<String> find(final String written, final boolean ignoresCase) {
    final String name = byName.get(written.toLowerCase(Locale.ROOT));
    if (name != null && (ignoresCase || name.equals(written))) {
      return Optional.of(name);
    }
    return others.stream()
        .filter(path -> written.regionMatches(ignoresCase, 0, path + ".", 0, path.length() + 1))
        .map(path -> path + written.substring(path.length()))
        .findFirst();
  }
}
