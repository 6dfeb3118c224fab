// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql;

import dev.lineagelab.flink.sql.model.Column;
import dev.lineagelab.flink.sql.model.Edge;
import dev.lineagelab.flink.sql.model.Output;
import dev.lineagelab.flink.sql.model.Table;
import dev.lineagelab.flink.sql.model.Write;
import dev.lineagelab.flink.sql.script.Document;
import dev.lineagelab.flink.sql.script.Statement;
import java.util.TreeSet;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ArrayNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.JsonNodeFactory;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.node.ObjectNode;

/** Serializer of a {@link Document} into the JSON format of the package documentation. */
final class JsonDocument {
  static final int VERSION = 1;

  private JsonDocument() {}

  static ObjectNode of(final Document document) {
    final ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("version", VERSION);
    final ArrayNode statements = json.putArray("statements");
    document.statements().forEach(part -> addStatement(statements.addObject(), part));
    final ObjectNode settings = json.putObject("settings");
    document.settings().forEach(settings::put);
    final ArrayNode jobs = json.putArray("jobs");
    document.jobs().forEach(job -> addJob(jobs.addObject(), job));
    return json;
  }

  private static void addStatement(final ObjectNode json, final Document.ParsedStatement part) {
    final Statement statement = part.statement();
    json.put("kind", part.kind().name());
    json.put("line", statement.line());
    json.put("column", statement.column());
    json.put("text", statement.text());
  }

  private static void addJob(final ObjectNode json, final Document.Job job) {
    job.statements().forEach(json.putArray("statements")::add);
    json.put("sql", job.sql());
    final ArrayNode writes = json.putArray("writes");
    job.writes().forEach(write -> addWrite(writes.addObject(), write));
  }

  private static void addWrite(final ObjectNode json, final Write write) {
    addTable(json.putObject("sink"), write.sink());
    json.put("overwrite", write.overwrite());
    final ArrayNode sources = json.putArray("sources");
    write.sources().forEach(source -> addTable(sources.addObject(), source));
    final ArrayNode columns = json.putArray("columns");
    for (final Output output : write.outputs()) {
      addColumn(columns.addObject().put("name", output.name()), output.column());
    }
    addColumn(json.putObject("rows"), write.rows());
  }

  private static void addTable(final ObjectNode json, final Table table) {
    table.path().forEach(json.putArray("path")::add);
    json.put("connector", table.connector());
    final ObjectNode options = json.putObject("options");
    table.options().forEach(options::put);
    table.primaryKey().forEach(json.putArray("primaryKey")::add);
    json.put("location", table.location());
    final ArrayNode fields = json.putArray("fields");
    table
        .fields()
        .forEach(
            field ->
                fields
                    .addObject()
                    .put("name", field.name())
                    .put("type", field.type())
                    .put("kind", field.kind().name())
                    .put("metadataKey", field.metadataKey()));
  }

  private static void addColumn(final ObjectNode json, final Column column) {
    final ArrayNode edges = json.putArray("edges");
    for (final Edge edge : Edge.simplify(column.edges())) {
      final ObjectNode added = edges.addObject();
      added.put("source", edge.origin().source());
      added.put("column", edge.origin().column());
      edge.origin().path().forEach(added.putArray("path")::add);
      added.put("subtype", edge.subtype().name());
      added.put("masking", edge.masking());
    }
    new TreeSet<>(column.unknown()).forEach(json.putArray("unknown")::add);
  }
}
