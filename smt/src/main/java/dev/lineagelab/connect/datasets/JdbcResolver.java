// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.Origin;
import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.columns.SinkConversions;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.columns.SymbolicValue;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.datasets.SourceStream.InputColumn;
import dev.lineagelab.connect.model.ObservedTopic;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** JDBC connectors of Confluent and Aiven, from their documentation; not run here. */
public final class JdbcResolver implements DatasetResolver {
  private static final List<String> CLASSES =
      List.of(
          "io.confluent.connect.jdbc.JdbcSourceConnector",
          "io.confluent.connect.jdbc.JdbcSinkConnector",
          "io.aiven.connect.jdbc.JdbcSourceConnector",
          "io.aiven.connect.jdbc.JdbcSinkConnector");

  /** Matches schema patterns of JDBC without a wildcard. */
  private static final Predicate<String> LITERAL = name -> !name.contains("%");

  @Override
  public boolean supports(final String connectorClass) {
    return ConnectorClassNames.matchesAny(CLASSES, connectorClass);
  }

  @Override
  public Resolution<SourceStream> sourceStreams(
      final ConnectorContext connector, final List<ObservedTopic> seen) {
    final ConnectorOptions options = connector.options();
    final String prefix = options.text("topic.prefix").orElse("");
    if (options.text("query").isPresent()) {
      return Resolution.unknown("The connector reads a query; its tables are unknown.");
    }
    final JdbcUrl url = JdbcUrl.parse(options.required("connection.url"));
    final List<String> tables = new ArrayList<>(options.list("table.whitelist"));
    tables.addAll(options.list("table.include.list"));
    if (!tables.isEmpty()) {
      return Resolution.of(
          tables.stream().map(table -> stream(connector, url, prefix, table)).toList());
    }
    if (connector.chain().mayChangeTopic()) {
      return Resolution.unknown(
          "'table.whitelist' is empty and a transform renames topics; the tables that are read are"
              + " unknown.");
    }
    return new Resolution<>(
        seenTables(connector, url, prefix, seen),
        List.of(
            "'table.whitelist' is empty: tables are known once Connect has seen a topic of them."));
  }

  /**
   * Return the streams of the tables whose topics are known; topics may be from before a change.
   */
  private static List<SourceStream> seenTables(
      final ConnectorContext connector,
      final JdbcUrl url,
      final String prefix,
      final List<ObservedTopic> seen) {
    final ConnectorOptions options = connector.options();
    final List<String> excluded = new ArrayList<>(options.list("table.blacklist"));
    excluded.addAll(options.list("table.exclude.list"));
    final String schema =
        options.text("schema.pattern").map(name -> name + ".").filter(LITERAL).orElse("");
    return seen.stream()
        .map(ObservedTopic::topic)
        .filter(topic -> topic.startsWith(prefix) && topic.length() > prefix.length())
        .map(topic -> topic.substring(prefix.length()))
        .filter(table -> !excluded.contains(table))
        .distinct()
        .map(table -> stream(connector, url, prefix, schema + table))
        .toList();
  }

  /** Return the stream of a table; its topic omits the schema of the table. */
  private static SourceStream stream(
      final ConnectorContext connector,
      final JdbcUrl url,
      final String prefix,
      final String table) {
    final String simple = table.substring(table.lastIndexOf('.') + 1);
    return new SourceStream(
        connector.dataset(url.namespace(), url.tableName(table)),
        SymbolicRecord.initial(prefix + simple, SymbolicValue.ABSENT, row()),
        JdbcResolver::column,
        false);
  }

  private static SymbolicValue row() {
    return new SymbolicValue.Passthrough(Origin.of(Part.VALUE), Set.of());
  }

  private static Optional<InputColumn> column(final Origin origin) {
    return origin.part() == Part.VALUE && origin.path().size() == 1
        ? Optional.of(InputColumn.of(origin.path().get(0)))
        : Optional.empty();
  }

  @Override
  public Resolution<SinkTarget> sinkTargets(
      final ConnectorContext connector, final String originalTopic, final SymbolicRecord record) {
    return Resolution.namedAfter(record.topic(), topic -> target(connector, topic, record));
  }

  private static SinkTarget target(
      final ConnectorContext connector, final String topic, final SymbolicRecord record) {
    final ConnectorOptions options = connector.options();
    final JdbcUrl url = JdbcUrl.parse(options.required("connection.url"));
    final String table =
        options.text("table.name.format").orElse("${topic}").replace("${topic}", topic);
    return SinkTarget.of(
        connector.dataset(url.namespace(), url.tableName(table)), columns(options, record));
  }

  /** Return the columns: the fields of the value, and those of the primary key. */
  private static SymbolicValue columns(
      final ConnectorOptions options, final SymbolicRecord record) {
    final List<String> names = options.list("pk.fields");
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
    switch (options.text("pk.mode").orElse("none")) {
      case "record_key" -> fields.putAll(KeyColumns.ofKey(record.key(), names));
      case "kafka" -> fields.putAll(KeyColumns.ofCoordinates(record, names));
      default -> {
        // Key columns from the value are among its fields.
      }
    }
    final List<String> only = options.list("fields.whitelist");
    if (!only.isEmpty()) {
      only.forEach(name -> fields.putIfAbsent(name, record.value().child(name)));
      return StructValue.closed(null, fields);
    }
    return SinkConversions.addFields(record.value(), fields);
  }
}
