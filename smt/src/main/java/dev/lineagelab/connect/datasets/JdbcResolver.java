// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.Origin;
import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.columns.SinkConversions;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.columns.SymbolicValue;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.TopicName;
import dev.lineagelab.connect.datasets.SourceStream.InputColumn;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.ObservedTopic;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** JDBC connectors of Confluent and Aiven, from their documentation; not run here. */
public final class JdbcResolver implements DatasetResolver {
  private static final List<String> CLASSES =
      List.of(
          "io.confluent.connect.jdbc.JdbcSourceConnector",
          "io.confluent.connect.jdbc.JdbcSinkConnector",
          "io.aiven.connect.jdbc.JdbcSourceConnector",
          "io.aiven.connect.jdbc.JdbcSinkConnector");

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
    if (tables.isEmpty()) {
      return Resolution.unknown(
          "'table.whitelist' is empty; the tables that are read are unknown.");
    }
    return Resolution.of(
        tables.stream().map(table -> stream(connector, url, prefix, table)).toList());
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
    final ConnectorOptions options = connector.options();
    if (connector.definition().type() != ConnectorType.SINK
        || !(record.topic() instanceof final TopicName.Known topic)) {
      return Resolution.unknownTopic(record.topic());
    }
    final JdbcUrl url = JdbcUrl.parse(options.required("connection.url"));
    final String table =
        options.text("table.name.format").orElse("${topic}").replace("${topic}", topic.name());
    return Resolution.of(
        List.of(
            SinkTarget.of(
                connector.dataset(url.namespace(), url.tableName(table)),
                columns(options, record))));
  }

  /** Return the columns: the fields of the value, and those of the primary key. */
  private static SymbolicValue columns(
      final ConnectorOptions options, final SymbolicRecord record) {
    final List<String> names = options.list("pk.fields");
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
    switch (options.text("pk.mode").orElse("none")) {
      case "record_key" -> addKey(record.key(), names, fields);
      case "kafka" -> addCoordinates(record, names, fields);
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

  private static void addKey(
      final SymbolicValue key, final List<String> names, final Map<String, SymbolicValue> fields) {
    if (key instanceof final StructValue struct) {
      final List<String> all = names.isEmpty() ? List.copyOf(struct.fields().keySet()) : names;
      all.forEach(name -> fields.put(name, struct.child(name)));
    } else if (!names.isEmpty()) {
      fields.put(names.get(0), key);
    }
  }

  private static void addCoordinates(
      final SymbolicRecord record,
      final List<String> names,
      final Map<String, SymbolicValue> fields) {
    final List<String> columns =
        names.size() == 3
            ? names
            : List.of("__connect_topic", "__connect_partition", "__connect_offset");
    fields.put(columns.get(0), SymbolicValue.Leaf.of("string", Origin.of(Part.TOPIC)));
    fields.put(columns.get(1), record.metadata().get(Part.PARTITION));
    fields.put(columns.get(2), record.metadata().get(Part.OFFSET));
  }
}
