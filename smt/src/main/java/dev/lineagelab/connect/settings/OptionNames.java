// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

/** Names of the plugin's options, without the prefix that they have outside the transform. */
public final class OptionNames {
  /** Prefix of the names in worker properties and system properties. */
  public static final String PREFIX = "openlineage.";

  /** Prefix of options of the Kafka producer of events, such as {@code kafka.security.protocol}. */
  public static final String KAFKA_PREFIX = "kafka.";

  public static final String ENABLED = "enabled";
  public static final String JOB_NAMESPACE = "job.namespace";
  public static final String KAFKA_NAMESPACE = "namespace.kafka";
  public static final String NAMESPACES = "namespaces";
  public static final String DATASETS = "datasets";
  public static final String UNTRANSFORMED = "connectors.without.transform";

  public static final String STACK_TRACES = "errors.stack.trace";

  public static final String INTERVAL_MS = "interval.ms";
  public static final String POLL_INTERVAL_MS = "poll.interval.ms";
  public static final String TRANSFORM_ONLY_AFTER_MS = "transform.only.after.ms";
  public static final String STATE_TOPIC = "state.topic";
  public static final String STATE_REPLICATION_FACTOR = "state.topic.replication.factor";

  public static final String CATALOG_COLUMNS = "catalog.columns";
  public static final String REGISTRY_VERSIONS = "registry.versions";
  public static final String REGISTRY_REQUESTS = "registry.requests.per.minute";

  public static final String TRANSPORT = "transport.type";
  public static final String URL = "transport.url";
  public static final String ENDPOINT = "transport.endpoint";
  public static final String BATCH_ENDPOINT = "transport.batch.endpoint";

  /** Options as OpenLineage's own clients name them. */
  public static final String AUTH_TYPE = "transport.auth.type";

  public static final String AUTH_API_KEY = "transport.auth.apiKey";

  public static final String API_KEY = "transport.auth.api.key";
  public static final String API_KEY_HEADER = "transport.auth.api.key.header";
  public static final String BEARER_TOKEN = "transport.auth.bearer.token";
  public static final String CONNECT_TIMEOUT_MS = "transport.connect.timeout.ms";
  public static final String REQUEST_TIMEOUT_MS = "transport.request.timeout.ms";
  public static final String COMPRESSION = "transport.compression";
  public static final String TRUSTSTORE = "transport.ssl.truststore.location";
  public static final String TRUSTSTORE_PASSWORD = "transport.ssl.truststore.password";
  public static final String KEYSTORE = "transport.ssl.keystore.location";
  public static final String KEYSTORE_PASSWORD = "transport.ssl.keystore.password";
  public static final String TOPIC = "transport.topic";
  public static final String FILE = "transport.file";
  public static final String CONFIG = "transport.config";

  public static final String QUEUE_CAPACITY = "queue.capacity";
  public static final String BATCH_SIZE = "batch.size";
  public static final String RETRY_BACKOFF_MS = "retry.backoff.ms";
  public static final String RETRY_BACKOFF_MAX_MS = "retry.backoff.max.ms";
  public static final String RETRY_TIMEOUT_MS = "retry.timeout.ms";
  public static final String SHUTDOWN_TIMEOUT_MS = "shutdown.timeout.ms";

  private OptionNames() {}
}
