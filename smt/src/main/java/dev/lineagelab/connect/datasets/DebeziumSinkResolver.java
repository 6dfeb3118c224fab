// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.Origin;
import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.columns.SinkConversions;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.columns.SymbolicValue;
import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.SymbolicValue.Unknown;
import dev.lineagelab.connect.columns.UnusableOptionException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * Debezium's sinks, which store the row of a change event, or any other record unchanged. Tests run
 * the JDBC sink; the MongoDB sink follows its declared options.
 */
public final class DebeziumSinkResolver implements DatasetResolver {
  private static final String JDBC = "io.debezium.connector.jdbc.JdbcSinkConnector";
  private static final String MONGODB = "io.debezium.connector.mongodb.MongoDbSinkConnector";
  private static final int MONGODB_PORT = 27017;

  /** By its full name: Confluent's and Aiven's JDBC sinks have the same simple name. */
  @Override
  public boolean supports(final String connectorClass) {
    return JDBC.equals(connectorClass)
        || ConnectorClassNames.matchesAny(List.of(MONGODB), connectorClass);
  }

  @Override
  public Resolution<SinkTarget> sinkTargets(
      final ConnectorContext connector, final String originalTopic, final SymbolicRecord record) {
    final boolean isTable = JDBC.equals(connector.definition().connectorClass());
    return Resolution.namedAfter(
        record.topic(),
        topic -> isTable ? table(connector, topic, record) : document(connector, topic, record));
  }

  /**
   * Name of the table or collection for the records of a topic.
   *
   * @throws UnusableOptionException if it depends on the record, or on a class of the user
   */
  private static String collection(final ConnectorOptions options, final String topic) {
    for (final String option : List.of("collection.naming.strategy", "table.naming.strategy")) {
      options.text(option).filter(name -> !isDefault(name)).ifPresent(name -> reject(option));
    }
    final String format =
        options
            .text("collection.name.format")
            .or(() -> options.text("table.name.format"))
            .orElse("${topic}");
    if (format.contains("${source.")) {
      throw new UnusableOptionException(
          "the name of the table depends on the record ('collection.name.format')");
    }
    return format.replace("${topic}", topic.replace('.', '_'));
  }

  private static boolean isDefault(final String strategy) {
    return strategy.substring(strategy.lastIndexOf('.') + 1).startsWith("Default");
  }

  private static void reject(final String option) {
    throw new UnusableOptionException("the table's name is given by the class in '" + option + "'");
  }

  private static SinkTarget document(
      final ConnectorContext connector, final String topic, final SymbolicRecord record) {
    final ConnectorOptions options = connector.options();
    final String collection = collection(options, topic);
    final String server =
        ServerAddress.hostAndPort(options.required("mongodb.connection.string"), MONGODB_PORT);
    return SinkTarget.of(
        connector.dataset(
            "mongodb://" + server, options.required("sink.database") + "." + collection),
        SinkConversions.addFields(
            renamed(options, SinkConversions.row(record.value())), Map.of("_id", record.key())));
  }

  private static SinkTarget table(
      final ConnectorContext connector, final String topic, final SymbolicRecord record) {
    final ConnectorOptions options = connector.options();
    final String collection = collection(options, topic);
    final JdbcUrl url = JdbcUrl.parse(options.required("connection.url"));
    final UnaryOperator<String> stored =
        options.flag("quote.identifiers", false) ? UnaryOperator.identity() : url::unquoted;
    final SymbolicValue columns = renamed(options, columns(options, topic, record));
    return SinkTarget.of(
        connector.dataset(url.namespace(), url.tableName(stored.apply(collection))),
        SinkConversions.renameFields(columns, stored));
  }

  /** Return the fields of the row, without those that options leave out, and the primary key. */
  private static SymbolicValue columns(
      final ConnectorOptions options, final String topic, final SymbolicRecord record) {
    final SymbolicValue row = SinkConversions.row(record.value());
    final List<String> names = options.list("primary.key.fields");
    final Map<String, SymbolicValue> key = new LinkedHashMap<>();
    switch (options.text("primary.key.mode").orElse("none").toLowerCase(Locale.ROOT)) {
      case "record_key" -> key.putAll(KeyColumns.ofKey(record.key(), names));
      case "record_value" -> names.forEach(name -> key.put(name, row.child(name)));
      case "record_header" -> names.forEach(name -> key.put(name, header(record)));
      case "kafka" -> key.putAll(KeyColumns.ofCoordinates(record, names));
      default -> {
        // No key of its own: the fields of the row are all columns.
      }
    }
    final Optional<Set<String>> included = fields(options, "field.include.list", topic);
    if (included.isPresent()) {
      included.get().forEach(name -> key.putIfAbsent(name, row.child(name)));
      return StructValue.closed(null, key);
    }
    return SinkConversions.addFields(
        fields(options, "field.exclude.list", topic)
            .map(excluded -> SinkConversions.withoutFields(row, excluded))
            .orElse(row),
        key);
  }

  private static SymbolicValue header(final SymbolicRecord record) {
    return record.allHeaders() instanceof Leaf
        ? Leaf.of(null, Origin.of(Part.HEADERS))
        : record.allHeaders();
  }

  /** Fields in a list of {@code [TOPIC:]FIELD}; empty if the list is. */
  private static Optional<Set<String>> fields(
      final ConnectorOptions options, final String option, final String topic) {
    final List<String> items = options.list(option);
    return items.isEmpty()
        ? Optional.empty()
        : Optional.of(
            items.stream()
                .filter(item -> !item.contains(":") || item.startsWith(topic + ":"))
                .map(item -> item.substring(item.indexOf(':') + 1))
                .collect(Collectors.toSet()));
  }

  /** Return columns under the names that the connector gives them. */
  private static SymbolicValue renamed(final ConnectorOptions options, final SymbolicValue row) {
    return options
        .text("column.naming.strategy")
        .filter(name -> !isDefault(name))
        .<SymbolicValue>map(
            name ->
                Unknown.because(
                    "The class in 'column.naming.strategy' gives the columns their names."))
        .orElse(row);
  }
}
