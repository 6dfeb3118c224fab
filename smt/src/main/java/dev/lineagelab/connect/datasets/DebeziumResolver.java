// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.BoundedRegex;
import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.TransformChain;
import dev.lineagelab.connect.columns.UnusableOptionException;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.ObservedTopic;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.connect.data.Schema;

/**
 * Debezium's source connectors. Tables come from the configuration, and from the names of observed
 * schemas: routing changes topics, not schema names.
 */
public final class DebeziumResolver implements DatasetResolver {
  private static final Pattern LITERAL = Pattern.compile("[\\w$ \\-]+(\\.[\\w$ \\-]+)*");
  private static final Set<String> RENAMING =
      Set.of(
          "io.debezium.transforms.ByLogicalTableRouter",
          "org.apache.kafka.connect.transforms.SetSchemaMetadata$Key",
          "org.apache.kafka.connect.transforms.SetSchemaMetadata$Value");
  private static final List<String> SCHEMA_KINDS = List.of(".Envelope", ".Value", ".Key");

  @Override
  public boolean supports(final String connectorClass) {
    return database(connectorClass).isPresent();
  }

  private static Optional<DebeziumDatabase> database(final String connectorClass) {
    return DebeziumDatabase.ALL.stream()
        .filter(db -> ConnectorClassNames.matchesAny(List.of(db.connectorClass()), connectorClass))
        .findFirst();
  }

  @Override
  public Resolution<SourceStream> sourceStreams(
      final ConnectorContext connector, final List<ObservedTopic> seen) {
    final DebeziumDatabase database =
        database(connector.definition().connectorClass()).orElseThrow();
    final ConnectorOptions options = connector.options();
    final String prefix = options.required("topic.prefix");
    final Set<String> paths = new TreeSet<>(literalTables(database, options));
    final boolean isComplete = paths.size() == expected(database, options);
    final DebeziumChangeEvents events = new DebeziumChangeEvents(database, options);
    final Map<ObservedTopic, String> owners = new IdentityHashMap<>();
    for (final ObservedTopic topic : seen) {
      seenTable(database, connector, prefix, topic)
          .filter(path -> isCaptured(database, options, path))
          .ifPresent(path -> owners.put(topic, path));
    }
    paths.addAll(owners.values());
    final List<SourceStream> streams =
        paths.stream()
            .map(
                path ->
                    events.stream(
                            table(database, connector, path), topic(options, prefix, path), path)
                        .carrying(topic -> owners.getOrDefault(topic, path).equals(path)))
            .toList();
    return new Resolution<>(
        streams,
        isComplete
            ? List.of()
            : List.of(
                "Tables that '"
                    + database.tableListOption()
                    + "' does not name literally are known once a record of them is observed."));
  }

  private static Dataset table(
      final DebeziumDatabase database, final ConnectorContext connector, final String path) {
    final ConnectorOptions options = connector.options();
    final String name =
        database.outerNameOptions().stream()
            .flatMap(option -> options.text(option).stream())
            .findFirst()
            .map(outer -> outer + "." + path)
            .orElse(path);
    return connector.dataset(namespace(database, options), name);
  }

  private static String namespace(final DebeziumDatabase database, final ConnectorOptions options) {
    final Optional<String> connectionString = options.text("mongodb.connection.string");
    if (connectionString.isPresent()) {
      return database.scheme()
          + "://"
          + ServerAddress.hostAndPort(connectionString.get(), database.port());
    }
    return database.scheme()
        + "://"
        + options.required("database.hostname")
        + ":"
        + options.text("database.port").orElse(Integer.toString(database.port()));
  }

  /** Return Debezium's topic for a table, with characters that Kafka does not allow replaced. */
  private static String topic(
      final ConnectorOptions options, final String prefix, final String path) {
    final String delimiter = options.text("topic.delimiter").orElse(".");
    return (prefix + delimiter + path.replace(".", delimiter)).replaceAll("[^\\w.\\-]", "_");
  }

  /** Return the tables that the configuration names literally, not by a pattern. */
  private static List<String> literalTables(
      final DebeziumDatabase database, final ConnectorOptions options) {
    if (!hasDefaultTopicNames(options)) {
      return List.of();
    }
    final List<String> names =
        options.list(database.tableListOption()).stream()
            .map(item -> item.replace("\\.", "."))
            .filter(item -> LITERAL.matcher(item).matches())
            .toList();
    final List<String> outer =
        database.databaseListOption() == null
            ? List.of()
            : options.list(database.databaseListOption());
    return names.stream()
        .flatMap(
            name -> outer.isEmpty() ? Stream.of(name) : outer.stream().map(db -> db + "." + name))
        .filter(path -> path.split("\\.").length == database.pathLength())
        .toList();
  }

  private static boolean hasDefaultTopicNames(final ConnectorOptions options) {
    return !options.has("topic.naming.strategy")
        || options.required("topic.naming.strategy").endsWith(".SchemaTopicNamingStrategy");
  }

  private static int expected(final DebeziumDatabase database, final ConnectorOptions options) {
    final int tables = (int) options.list(database.tableListOption()).stream().distinct().count();
    final int databases =
        database.databaseListOption() == null
            ? 1
            : options.list(database.databaseListOption()).size();
    return tables == 0 ? -1 : tables * databases;
  }

  /**
   * Return whether the current configuration captures a table: topics may be from before a change.
   */
  private static boolean isCaptured(
      final DebeziumDatabase database, final ConnectorOptions options, final String path) {
    final List<String> captured = options.list(database.tableListOption());
    // Where a database is chosen by an option of its own, tables are named without it.
    final String name =
        database.databaseListOption() == null ? path : path.substring(path.indexOf('.') + 1);
    try {
      return captured.isEmpty()
          || captured.stream().anyMatch(one -> BoundedRegex.ignoringCase(one).matches(name));
    } catch (final UnusableOptionException e) {
      // An expression may contain commas; the table's records were written, by whichever of them.
      return true;
    }
  }

  /**
   * Return the table of a topic: the one that its schemas name, unless transforms may rename these,
   * or that its name has, if no schema is known and no transform may change topics.
   */
  private static Optional<String> seenTable(
      final DebeziumDatabase database,
      final ConnectorContext connector,
      final String prefix,
      final ObservedTopic seen) {
    final TransformChain chain = connector.chain();
    if (seen.valueSchema() == null && seen.keySchema() == null) {
      return chain.mayChangeTopic()
          ? Optional.empty()
          : tableOfTopic(database, connector.options(), prefix, seen.topic());
    }
    if (RENAMING.stream().anyMatch(chain::has)) {
      return Optional.empty();
    }
    return Stream.of(seen.valueSchema(), seen.keySchema())
        .flatMap(schema -> tableOf(schema, prefix).stream())
        .filter(path -> path.split("\\.").length == database.pathLength())
        .findFirst();
  }

  /** Return the table to whose topic Debezium gives a name. */
  private static Optional<String> tableOfTopic(
      final DebeziumDatabase database,
      final ConnectorOptions options,
      final String prefix,
      final String topic) {
    final String delimiter = options.text("topic.delimiter").orElse(".");
    final String start = prefix + delimiter;
    if (!topic.startsWith(start) || !hasDefaultTopicNames(options)) {
      return Optional.empty();
    }
    final String path = topic.substring(start.length()).replace(delimiter, ".");
    return Optional.of(path)
        .filter(found -> found.split("\\.", -1).length == database.pathLength())
        .filter(found -> topic(options, prefix, found).equals(topic));
  }

  /** Return the table in a schema name. */
  private static Optional<String> tableOf(final Schema schema, final String prefix) {
    if (schema == null || schema.name() == null || !schema.name().startsWith(prefix + ".")) {
      return Optional.empty();
    }
    final String name = schema.name().substring(prefix.length() + 1);
    return SCHEMA_KINDS.stream()
        .filter(name::endsWith)
        .map(kind -> name.substring(0, name.length() - kind.length()))
        .findFirst();
  }
}
