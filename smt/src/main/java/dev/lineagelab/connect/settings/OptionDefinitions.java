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
    add(options, OptionNames.ENABLED, Type.BOOLEAN, true, null, "Whether lineage is told at all.");
    add(
        options,
        OptionNames.JOB_NAMESPACE,
        Type.STRING,
        "",
        null,
        "Namespace of the jobs. Empty: the worker's group.id, or kafka-connect.");
    add(
        options,
        OptionNames.KAFKA_NAMESPACE,
        Type.STRING,
        "",
        OptionValidators.KAFKA_NAMESPACE,
        "Namespace of the worker's Kafka cluster, such as kafka://kafka:9092. Empty: made of the first"
            + " bootstrap server.");
    add(
        options,
        OptionNames.NAMESPACES,
        Type.LIST,
        "",
        OptionValidators.NAMESPACES,
        "Other namespaces as all the world calls them: found=canonical, comma-separated.");
    add(
        options,
        OptionNames.DATASETS,
        Type.STRING,
        "",
        null,
        "Where a connector of an unknown class reads from or writes to:"
            + " topic -> namespace|name, comma-separated.");
    add(
        options,
        OptionNames.UNTRANSFORMED,
        Type.STRING,
        "include",
        ValidString.in("include", "exclude"),
        "Whether connectors that do not have the transform are told of too, without columns.");
    add(
        options,
        OptionNames.INTERVAL_MS,
        Type.LONG,
        30_000L,
        Range.atLeast(1000),
        "Milliseconds between the events of a connector that runs.");
    add(
        options,
        OptionNames.POLL_INTERVAL_MS,
        Type.LONG,
        500L,
        Range.atLeast(50),
        "Milliseconds between two looks at the state of the connectors.");
    add(
        options,
        OptionNames.TRANSFORM_ONLY_AFTER_MS,
        Type.LONG,
        10_000L,
        Range.atLeast(0),
        "Milliseconds for which the transform waits for the REST extension before it goes on alone.");
    add(
        options,
        OptionNames.STATE_TOPIC,
        Type.STRING,
        "connect-lineage",
        null,
        "Compacted topic in which runs outlive the worker; made where it is missing. Empty: in memory.");
    add(
        options,
        OptionNames.STATE_REPLICATION_FACTOR,
        Type.SHORT,
        (short) -1,
        null,
        "Replication factor of that topic where it is made; -1 for the broker's default.");
  }

  private static void defineRegistry(final ConfigDef options) {
    add(
        options,
        OptionNames.REGISTRY_VERSIONS,
        Type.BOOLEAN,
        true,
        null,
        "Whether the schema registry of a connector's value converter is asked which version of its"
            + " subject a topic's columns are.");
    add(
        options,
        OptionNames.REGISTRY_REQUESTS,
        Type.INT,
        60,
        Range.atLeast(6),
        "Requests a minute to registries, at most, of a whole worker.");
  }

  private static void defineTransport(final ConfigDef options) {
    add(
        options,
        OptionNames.TRANSPORT,
        Type.STRING,
        "",
        ValidString.in("", "http", "kafka", "file", "none"),
        "How events leave: http, kafka, file or none. Empty: http where there is a transport.url,"
            + " otherwise none.");
    add(
        options,
        OptionNames.URL,
        Type.STRING,
        "",
        OptionValidators.URL,
        "http: address of the lineage service, such as http://localhost:5000.");
    add(
        options,
        OptionNames.ENDPOINT,
        Type.STRING,
        "/api/v1/lineage",
        OptionValidators.PATH,
        "http: path that takes one event.");
    add(
        options,
        OptionNames.BATCH_ENDPOINT,
        Type.STRING,
        "",
        OptionValidators.PATH_OR_EMPTY,
        "http: path that takes an array of events, such as /api/v1/lineage/batch. Empty: one by one.");
    add(
        options,
        OptionNames.COMPRESSION,
        Type.STRING,
        "none",
        ValidString.in("none", "gzip"),
        "http: compression of requests.");
    add(
        options,
        OptionNames.CONNECT_TIMEOUT_MS,
        Type.LONG,
        3000L,
        Range.atLeast(1),
        "http: milliseconds for a connection.");
    add(
        options,
        OptionNames.REQUEST_TIMEOUT_MS,
        Type.LONG,
        10_000L,
        Range.atLeast(1),
        "http: milliseconds for an answer.");
    add(
        options,
        OptionNames.TOPIC,
        Type.STRING,
        "openlineage",
        NOT_EMPTY,
        "kafka: topic of the events; the key is the job.");
    add(
        options,
        OptionNames.FILE,
        Type.STRING,
        "",
        null,
        "file: path; one event per line is added.");
  }

  private static void defineSecurity(final ConfigDef options) {
    add(options, OptionNames.API_KEY, Type.PASSWORD, "", null, "http: key, sent in a header.");
    add(
        options,
        OptionNames.API_KEY_HEADER,
        Type.STRING,
        "X-API-Key",
        NOT_EMPTY,
        "http: header of the key.");
    add(
        options,
        OptionNames.BEARER_TOKEN,
        Type.PASSWORD,
        "",
        null,
        "http: token, sent as Authorization: Bearer.");
    add(
        options,
        OptionNames.TRUSTSTORE,
        Type.STRING,
        "",
        null,
        "http: truststore (PKCS12 or JKS). Empty: Java's.");
    add(options, OptionNames.TRUSTSTORE_PASSWORD, Type.PASSWORD, "", null, "http: its password.");
    add(
        options,
        OptionNames.KEYSTORE,
        Type.STRING,
        "",
        null,
        "http: keystore with the client's certificate. Empty: no certificate is shown.");
    add(options, OptionNames.KEYSTORE_PASSWORD, Type.PASSWORD, "", null, "http: its password.");
  }

  private static void defineQueue(final ConfigDef options) {
    add(
        options,
        OptionNames.QUEUE_CAPACITY,
        Type.INT,
        2000,
        Range.atLeast(1),
        "Events that may wait. Where there are more, the oldest are dropped and counted.");
    add(
        options,
        OptionNames.BATCH_SIZE,
        Type.INT,
        50,
        Range.between(1, 10_000),
        "Events that are sent at once, where the transport can.");
    add(
        options,
        OptionNames.RETRY_BACKOFF_MS,
        Type.LONG,
        250L,
        Range.atLeast(1),
        "Milliseconds before a failed attempt is repeated; doubled each time.");
    add(
        options,
        OptionNames.RETRY_BACKOFF_MAX_MS,
        Type.LONG,
        30_000L,
        Range.atLeast(1),
        "The longest such wait.");
    add(
        options,
        OptionNames.RETRY_TIMEOUT_MS,
        Type.LONG,
        600_000L,
        Range.atLeast(0),
        "Milliseconds for which an event is tried; then it is dropped and counted.");
    add(
        options,
        OptionNames.SHUTDOWN_TIMEOUT_MS,
        Type.LONG,
        1500L,
        Range.between(0, 10_000),
        "Milliseconds for what still waits when the worker stops.");
  }

  private static void add(
      final ConfigDef options,
      final String name,
      final Type type,
      final Object standard,
      final Validator check,
      final String text) {
    options.define(name, type, standard, check, importance(name), text);
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
