// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/**
 * Column lineage of the job as declared in {@code columns.json}, the file that lineage is reported
 * from.
 */
final class DeclaredColumns {
  private static final Path FILE = Path.of("columns.json");
  private static final Set<String> DIRECT = Set.of("IDENTITY", "TRANSFORMATION", "AGGREGATION");

  private final JsonNode output;

  private DeclaredColumns(final JsonNode output) {
    this.output = output;
  }

  static DeclaredColumns read() throws IOException {
    return new DeclaredColumns(
        new ObjectMapper().readTree(FILE.toFile()).path("outputs").path("kafka/supplier-windows"));
  }

  Set<String> columns() {
    final Set<String> columns = new TreeSet<>();
    output.path("columns").fieldNames().forEachRemaining(columns::add);
    return columns;
  }

  /** Returns the columns with a direct dependency on a field. */
  Set<String> columnsFrom(final String field) {
    final Set<String> columns = columns();
    columns.removeIf(
        column ->
            sources(output.path("columns").path(column)).stream()
                .noneMatch(
                    source -> source.field().equals(field) && DIRECT.contains(source.kind())));
    return columns;
  }

  /** Returns the fields that rows depend on indirectly, by one of the given subtypes. */
  Set<String> rowFields(final String... kinds) {
    final Set<String> fields = new TreeSet<>();
    for (final Source source : sources(output.path("rows"))) {
      if (Set.of(kinds).contains(source.kind())) {
        fields.add(source.field());
      }
    }
    return fields;
  }

  private record Source(String field, String kind) {}

  private static List<Source> sources(final JsonNode texts) {
    final List<Source> sources = new ArrayList<>();
    for (final Iterator<JsonNode> text = texts.elements(); text.hasNext(); ) {
      final String[] words = text.next().textValue().split(" ");
      sources.add(new Source(words[0], words[1]));
    }
    return sources;
  }
}
