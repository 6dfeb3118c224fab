// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql;

import dev.lineagelab.flink.sql.model.Column;
import dev.lineagelab.flink.sql.model.Edge;
import dev.lineagelab.flink.sql.model.Output;
import dev.lineagelab.flink.sql.model.Table;
import dev.lineagelab.flink.sql.model.Write;
import dev.lineagelab.flink.sql.script.Document;
import dev.lineagelab.flink.sql.script.ScriptException;
import dev.lineagelab.flink.sql.script.ScriptReader;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Renders lineage as text for assertions: {@code total <- orders.price AGGREGATION}, with {@code !}
 * for masking, {@code rows <- ...}, and {@code ?} before the reasons of unknown lineage.
 */
public final class RenderedLineage {
  private RenderedLineage() {}

  /** Returns the lineage of a query whose columns are all named. */
  public static List<String> query(final String definitions, final String query)
      throws ScriptException {
    return lines(write(definitions, query));
  }

  /** Returns the lineage of a CREATE TABLE AS with the query. */
  public static Write write(final String definitions, final String query) throws ScriptException {
    return script(
            definitions + "CREATE TABLE made WITH ('connector' = 'blackhole') AS " + query + ";")
        .jobs()
        .get(0)
        .writes()
        .get(0);
  }

  public static Document script(final String script) throws ScriptException {
    return ScriptReader.read(script);
  }

  /** Returns the lineage of one INSERT, one line per column. */
  public static List<String> lines(final Write write) {
    final List<String> lines = new ArrayList<>();
    for (final Output output : write.outputs()) {
      lines.add(line(output.name(), output.column(), write.sources()));
    }
    lines.add(line("rows", write.rows(), write.sources()));
    return lines;
  }

  private static String line(final String name, final Column column, final List<Table> sources) {
    final Stream<String> edges =
        Edge.simplify(column.edges()).stream()
            .map(
                edge ->
                    "%s.%s %s%s"
                        .formatted(
                            sources.get(edge.origin().source()).path().get(2),
                            Stream.concat(
                                    Stream.of(edge.origin().column()),
                                    edge.origin().path().stream())
                                .collect(Collectors.joining(".")),
                            edge.subtype(),
                            edge.masking() ? "!" : ""));
    final Stream<String> unknown = new TreeSet<>(column.unknown()).stream().map(why -> "?" + why);
    return Stream.concat(edges, unknown)
        .collect(Collectors.joining(", ", name + " <- ", ""))
        .strip();
  }
}
