// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.NonEmptyString;
import org.apache.kafka.common.config.ConfigDef.Range;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.ConfigDef.ValidString;
import org.apache.kafka.common.config.ConfigDef.Validator;

/** Definitions of the plugin's options: types, defaults, validators and documentation. */
public final class OptionDefinitions {
  /** Value of {@code transport.auth.type}. */
  static final String API_KEY_TYPE = "api_key";

  private static final Validator NOT_EMPTY = new NonEmptyString();

  private OptionDefinitions() {}

  /** Return the definitions of all options, under their names without prefix. */
  public static ConfigDef all() {
    final ConfigDef options = new ConfigDef();
    defineLineage(options);
    defineRegistry(options);
    defineTransport(options);
    defineSecurity(options);
    defineQueue(options);
    return options;
  }

  private static void defineLineage(final ConfigDef options) {
    add(options, OptionNames.ENABLED, Type.BOOLEAN, true, null, "Enables lineage events.");
    add(
        options,
        OptionNames.JOB_NAMESPACE,
        Type.STRING,
        "",
        null,
        "Namespace of jobs. Default: the worker's group.id, or kafka-connect.");
    add(
        options,
        OptionNames.KAFKA_NAMESPACE,
        Type.STRING,
        "",
        OptionValidators.KAFKA_NAMESPACE,
        "Namespace of the worker's Kafka cluster, such as kafka://kafka:9092. Default: derived from"
            + " the first bootstrap server.");
    add(
        options,
        OptionNames.NAMESPACES,
        Type.LIST,
        "",
        OptionValidators.NAMESPACES,
        "Canonical names of other namespaces: found=canonical, comma-separated.");
    add(
        options,
        OptionNames.DATASETS,
        Type.STRING,
        "",
        null,
        "Datasets that a connector of an unsupported class reads or writes:"
            + " topic -> namespace|name, comma-separated.");
    add(
        options,
        OptionNames.UNTRANSFORMED,
        Type.STRING,
        "include",
        ValidString.in("include", "exclude"),
        "include or exclude connectors without the transform. Their lineage has no columns.");
    add(
        options,
        OptionNames.STACK_TRACES,
        Type.STRING,
        "exclude",
        ValidString.in("include", "exclude"),
        "include or exclude stack traces in the events of failed connectors. They can quote rows;"
            + " without them, an event has class and message of the exception and of its innermost"
            + " cause.");
    add(
        options,
        OptionNames.INTERVAL_MS,
        Type.LONG,
        30_000L,
        Range.atLeast(1000),
        "Interval between events of a running connector, in milliseconds.");
    add(
        options,
        OptionNames.POLL_INTERVAL_MS,
        Type.LONG,
        500L,
        Range.atLeast(50),
        "Poll interval for the state of connectors, in milliseconds.");
    add(
        options,
        OptionNames.TRANSFORM_ONLY_AFTER_MS,
        Type.LONG,
        10_000L,
        Range.atLeast(0),
        "Time that the transform waits for the REST extension before it works without it, in"
            + " milliseconds.");
    add(
        options,
        OptionNames.STATE_TOPIC,
        Type.STRING,
        "connect-lineage",
        null,
        "Compacted topic that stores the state of runs; created if it does not exist. Empty: state"
            + " is kept in memory.");
    add(
        options,
        OptionNames.STATE_REPLICATION_FACTOR,
        Type.SHORT,
        (short) -1,
        null,
        "Replication factor of the state topic when it is created; -1 for the broker's default.");
  }

  private static void defineRegistry(final ConfigDef options) {
    add(
        options,
        OptionNames.REGISTRY_VERSIONS,
        Type.BOOLEAN,
        true,
        null,
        "Looks up the version of a topic's schema in the schema registry of the connector's value"
            + " converter, and the schema itself for a sink without the transform.");
    add(
        options,
        OptionNames.REGISTRY_REQUESTS,
        Type.INT,
        60,
        Range.atLeast(6),
        "Maximum number of requests per minute from a worker to all registries, and to all"
            + " catalogs.");
    add(
        options,
        OptionNames.CATALOG_COLUMNS,
        Type.BOOLEAN,
        true,
        null,
        "Asks the REST catalog of an Iceberg sink that neither creates nor changes tables for"
            + " their columns.");
  }

  private static void defineTransport(final ConfigDef options) {
    add(
        options,
        OptionNames.TRANSPORT,
        Type.STRING,
        "",
        ValidString.in("", "http", "kafka", "file", "openlineage", "none"),
        "Transport of events: http, kafka, file, openlineage (OpenLineage's own client, whose jars"
            + " must be in the plugin's folder) or none. Default: http if transport.url is set,"
            + " otherwise none.");
    add(
        options,
        OptionNames.URL,
        Type.STRING,
        "",
        OptionValidators.URL,
        "http: base URL of the lineage service, such as http://localhost:5000.");
    add(
        options,
        OptionNames.ENDPOINT,
        Type.STRING,
        "/api/v1/lineage",
        OptionValidators.PATH,
        "http: path that accepts one event.");
    add(
        options,
        OptionNames.BATCH_ENDPOINT,
        Type.STRING,
        "",
        OptionValidators.PATH_OR_EMPTY,
        "http: path that accepts an array of events, such as /api/v1/lineage/batch. Empty: one"
            + " request per event.");
    add(
        options,
        OptionNames.COMPRESSION,
        Type.STRING,
        "none",
        ValidString.in("none", "gzip"),
        "http and kafka: compression of requests, none or gzip.");
    add(
        options,
        OptionNames.CONNECT_TIMEOUT_MS,
        Type.LONG,
        3000L,
        Range.atLeast(1),
        "http: timeout for opening a connection, in milliseconds.");
    add(
        options,
        OptionNames.REQUEST_TIMEOUT_MS,
        Type.LONG,
        10_000L,
        Range.atLeast(1),
        "http and kafka: timeout for a response, in milliseconds.");
    add(
        options,
        OptionNames.TOPIC,
        Type.STRING,
        "openlineage",
        NOT_EMPTY,
        "kafka: topic of the events; record keys are job names.");
    add(
        options,
        OptionNames.FILE,
        Type.STRING,
        "",
        null,
        "file: path to which events are appended, one per line.");
    add(
        options,
        OptionNames.CONFIG,
        Type.STRING,
        "",
        null,
        "openlineage: path of the client's configuration. Default: where the client looks for it,"
            + " such as OPENLINEAGE_CONFIG or openlineage.yml in the worker's directory.");
  }

  private static void defineSecurity(final ConfigDef options) {
    add(
        options,
        OptionNames.AUTH_TYPE,
        Type.STRING,
        "",
        ValidString.in("", API_KEY_TYPE),
        "http: api_key to send transport.auth.apiKey, as OpenLineage's clients do.");
    add(
        options,
        OptionNames.AUTH_API_KEY,
        Type.PASSWORD,
        "",
        null,
        "http: API key, sent as a bearer token in the header Authorization.");
    add(options, OptionNames.API_KEY, Type.PASSWORD, "", null, "http: API key, sent in a header.");
    add(
        options,
        OptionNames.API_KEY_HEADER,
        Type.STRING,
        "X-API-Key",
        NOT_EMPTY,
        "http: header of the API key.");
    add(
        options,
        OptionNames.BEARER_TOKEN,
        Type.PASSWORD,
        "",
        null,
        "http: bearer token, sent in the header Authorization.");
    add(
        options,
        OptionNames.TRUSTSTORE,
        Type.STRING,
        "",
        null,
        "http: path of the truststore (PKCS12 or JKS). Default: Java's.");
    add(
        options,
        OptionNames.TRUSTSTORE_PASSWORD,
        Type.PASSWORD,
        "",
        null,
        "http: password of the truststore.");
    add(
        options,
        OptionNames.KEYSTORE,
        Type.STRING,
        "",
        null,
        "http: path of the keystore with the client certificate. Empty: no client certificate.");
    add(
        options,
        OptionNames.KEYSTORE_PASSWORD,
        Type.PASSWORD,
        "",
        null,
        "http: password of the keystore.");
  }

  private static void defineQueue(final ConfigDef options) {
    add(
        options,
        OptionNames.QUEUE_CAPACITY,
        Type.INT,
        2000,
        Range.atLeast(1),
        "Maximum number of queued events. If it is exceeded, the oldest are dropped and counted.");
    add(
        options,
        OptionNames.BATCH_SIZE,
        Type.INT,
        50,
        Range.between(1, 10_000),
        "Maximum number of events per request, if the transport supports batches.");
    add(
        options,
        OptionNames.RETRY_BACKOFF_MS,
        Type.LONG,
        250L,
        Range.atLeast(1),
        "Delay before the first retry, in milliseconds; doubled with each retry.");
    add(
        options,
        OptionNames.RETRY_BACKOFF_MAX_MS,
        Type.LONG,
        30_000L,
        Range.atLeast(1),
        "Maximum delay before a retry, in milliseconds.");
    add(
        options,
        OptionNames.RETRY_TIMEOUT_MS,
        Type.LONG,
        600_000L,
        Range.atLeast(0),
        "Time after which an event that could not be sent is dropped and counted, in"
            + " milliseconds.");
    add(
        options,
        OptionNames.SHUTDOWN_TIMEOUT_MS,
        Type.LONG,
        1500L,
        Range.between(0, 10_000),
        "Time to send queued events when the worker stops, in milliseconds.");
  }

  private static void add(
      final ConfigDef options,
      final String name,
      final Type type,
      final Object defaultValue,
      final Validator validator,
      final String documentation) {
    options.define(name, type, defaultValue, validator, importance(name), documentation);
  }

  private static Importance importance(final String name) {
    return switch (name) {
      case OptionNames.URL, OptionNames.TRANSPORT, OptionNames.JOB_NAMESPACE -> Importance.HIGH;
      case OptionNames.ENDPOINT, OptionNames.KAFKA_NAMESPACE, OptionNames.DATASETS ->
          Importance.MEDIUM;
      default -> Importance.LOW;
    };
  }
}
