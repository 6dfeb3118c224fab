// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.SinkConversions;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.columns.SymbolicValue;
import dev.lineagelab.connect.columns.UnusableOptionException;
import dev.lineagelab.connect.model.Dataset;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sinks of data warehouses, from the vendors' documentation; not run here. */
public final class WarehouseResolver implements DatasetResolver {
  private static final Pattern SNOWFLAKE_HOST =
      Pattern.compile("(?:https?://)?([\\w.\\-]+?)\\.snowflakecomputing\\.[a-z]+(?::\\d+)?/?");
  private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][\\w$]*");
  private static final Pattern QUOTED = Pattern.compile("\"([^\"]+)\"");

  /** {@code CLUSTER.ID.REGION.redshift.amazonaws.com} */
  private static final Pattern REDSHIFT_HOST =
      Pattern.compile(
          "([\\w\\-]+)\\.[\\w\\-]+\\.([\\w\\-]+)\\.redshift\\.amazonaws\\.com(?:\\.cn)?");

  private enum Kind {
    SNOWFLAKE("com.snowflake.kafka.connector.SnowflakeSinkConnector"),
    BIGQUERY("com.wepay.kafka.connect.bigquery.BigQuerySinkConnector"),
    REDSHIFT("io.confluent.connect.aws.redshift.RedshiftSinkConnector"),
    CLICKHOUSE("com.clickhouse.kafka.connect.ClickHouseSinkConnector");

    private final String connectorClass;

    Kind(final String connectorClass) {
      this.connectorClass = connectorClass;
    }
  }

  @Override
  public boolean supports(final String connectorClass) {
    return kind(connectorClass).isPresent();
  }

  private static Optional<Kind> kind(final String connectorClass) {
    return Arrays.stream(Kind.values())
        .filter(
            kind -> ConnectorClassNames.matchesAny(List.of(kind.connectorClass), connectorClass))
        .findFirst();
  }

  @Override
  public Resolution<SinkTarget> sinkTargets(
      final ConnectorContext connector, final String originalTopic, final SymbolicRecord record) {
    return Resolution.namedAfter(record.topic(), topic -> target(connector, topic, record));
  }

  private static SinkTarget target(
      final ConnectorContext connector, final String topic, final SymbolicRecord record) {
    final ConnectorOptions options = connector.options();
    return switch (kind(connector.definition().connectorClass()).orElseThrow()) {
      case SNOWFLAKE ->
          SinkTarget.of(snowflake(connector, topic), snowflakeColumns(options, record));
      case BIGQUERY -> SinkTarget.of(bigQuery(connector, topic), bigQueryColumns(options, record));
      case REDSHIFT -> SinkTarget.of(redshift(connector, topic), record.value());
      case CLICKHOUSE -> SinkTarget.of(clickHouse(connector, topic), record.value());
    };
  }

  /** Names as Snowflake stores them: without quotes in upper case. */
  private static Dataset snowflake(final ConnectorContext connector, final String topic) {
    final ConnectorOptions options = connector.options();
    final Matcher host = SNOWFLAKE_HOST.matcher(options.required("snowflake.url.name"));
    if (!host.matches()) {
      throw new UnusableOptionException("'snowflake.url.name' names no account of Snowflake");
    }
    return connector.dataset(
        "snowflake://" + host.group(1).toLowerCase(Locale.ROOT),
        String.join(
            ".",
            stored(options.required("snowflake.database.name")),
            stored(options.required("snowflake.schema.name")),
            stored(mapped(options, "snowflake.topic2table.map", ":", topic).orElse(topic))));
  }

  private static String stored(final String name) {
    final Matcher quoted = QUOTED.matcher(name);
    if (quoted.matches()) {
      return quoted.group(1);
    }
    if (!IDENTIFIER.matcher(name).matches()) {
      // The connector appends a hash of its own to such topics.
      throw new UnusableOptionException(
          "a topic is no identifier of Snowflake and not in 'snowflake.topic2table.map'");
    }
    return name.toUpperCase(Locale.ROOT);
  }

  private static SymbolicValue snowflakeColumns(
      final ConnectorOptions options, final SymbolicRecord record) {
    return options.flag("snowflake.enable.schematization", false)
        ? SinkConversions.renameFields(record.value(), name -> name.toUpperCase(Locale.ROOT))
        : SymbolicValue.Unknown.because(
            "Without 'snowflake.enable.schematization', the columns depend on the connector's"
                + " version and the table.");
  }

  private static Dataset bigQuery(final ConnectorContext connector, final String topic) {
    final ConnectorOptions options = connector.options();
    final String table =
        mapped(options, "topic2TableMap", ":", topic)
            .orElseGet(
                () ->
                    options.flag("sanitizeTopics", false)
                        ? topic.replaceAll("[^a-zA-Z0-9_]", "_")
                        : topic);
    return connector.dataset(
        "bigquery",
        options.required("project") + "." + options.required("defaultDataset") + "." + table);
  }

  private static SymbolicValue bigQueryColumns(
      final ConnectorOptions options, final SymbolicRecord record) {
    return SinkConversions.addFields(
        record.value(),
        options.text("kafkaKeyFieldName").map(name -> Map.of(name, record.key())).orElse(Map.of()));
  }

  private static Dataset redshift(final ConnectorContext connector, final String topic) {
    final ConnectorOptions options = connector.options();
    final Matcher host = REDSHIFT_HOST.matcher(options.required("aws.redshift.domain"));
    if (!host.matches()) {
      throw new UnusableOptionException("'aws.redshift.domain' names no cluster and region");
    }
    final String table =
        options.text("table.name.format").orElse("${topic}").replace("${topic}", topic);
    return connector.dataset(
        "redshift://"
            + host.group(1)
            + "."
            + host.group(2)
            + ":"
            + options.text("aws.redshift.port").orElse("5439"),
        options.required("aws.redshift.database")
            + "."
            + (table.contains(".") ? table : "public." + table));
  }

  private static Dataset clickHouse(final ConnectorContext connector, final String topic) {
    final ConnectorOptions options = connector.options();
    return connector.dataset(
        "clickhouse://" + options.required("hostname") + ":" + options.text("port").orElse("8443"),
        options.text("database").orElse("default")
            + "."
            + mapped(options, "topic2TableMap", "=", topic).orElse(topic));
  }

  /**
   * Return the table that an option with a list of {@code TOPIC SEPARATOR TABLE} has for a topic.
   */
  private static Optional<String> mapped(
      final ConnectorOptions options,
      final String option,
      final String separator,
      final String topic) {
    return options.list(option).stream()
        .map(item -> item.split(separator, 2))
        .filter(pair -> pair.length == 2 && pair[0].strip().equals(topic))
        .map(pair -> pair[1].strip())
        .findFirst();
  }
}
