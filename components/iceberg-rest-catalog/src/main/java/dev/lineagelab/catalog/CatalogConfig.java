// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.catalog;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Settings of the server: its address from arguments, the catalog from environment variables.
 *
 * <p>Secrets are read from the environment because every user of the machine can read the arguments
 * of a process. The AWS SDK itself reads credentials and region of the object store from {@code
 * AWS_ACCESS_KEY_ID}, {@code AWS_SECRET_ACCESS_KEY} and {@code AWS_REGION}.
 *
 * @param host address to bind
 * @param port 0 for any free port
 * @param catalogProperties properties of Iceberg's {@code JdbcCatalog}
 * @param clientDefaults properties that clients use unless they set their own
 * @param hosts names of the server by which clients reach it, beside {@code localhost}
 * @param keyStore PKCS 12 file with the key and the certificate of the server, which then has TLS;
 *     empty for none
 */
record CatalogConfig(
    String host,
    int port,
    Map<String, String> catalogProperties,
    Map<String, String> clientDefaults,
    List<String> hosts,
    Optional<Path> keyStore) {

  static final String USAGE = "usage: iceberg-rest-catalog --host HOST --port PORT";

  private static final String PREFIX = "CATALOG_";
  private static final String JDBC_URI = "CATALOG_JDBC_URI";
  private static final String WAREHOUSE = "CATALOG_WAREHOUSE";

  private static final String CLIENT_S3_ENDPOINT = "CATALOG_CLIENT_S3_ENDPOINT";
  private static final String HOSTS = "CATALOG_HOSTS";
  private static final String KEY_STORE = "CATALOG_KEY_STORE";

  /** Catalog property of each environment variable. */
  private static final Map<String, String> PROPERTIES =
      Map.of(
          JDBC_URI,
          "uri",
          "CATALOG_JDBC_USER",
          "jdbc.user",
          "CATALOG_JDBC_PASSWORD",
          "jdbc.password",
          WAREHOUSE,
          "warehouse",
          "CATALOG_IO_IMPL",
          "io-impl",
          "CATALOG_S3_ENDPOINT",
          "s3.endpoint");

  private static final Set<String> KNOWN = new TreeSet<>(PROPERTIES.keySet());

  static {
    KNOWN.add(CLIENT_S3_ENDPOINT);
    KNOWN.add(HOSTS);
    KNOWN.add(KEY_STORE);
  }

  /**
   * Properties for SQLite, which allows one writer at a time and rejects others with SQLITE_BUSY;
   * JdbcCatalog reports that as a failed commit. With one connection the requests of this server
   * queue in its pool; the busy timeout covers other processes that have the file open. WAL lets
   * them read during a commit.
   */
  private static final Map<String, String> SQLITE =
      Map.of("clients", "1", "jdbc.busy_timeout", "10000", "jdbc.journal_mode", "WAL");

  /**
   * SQLSTATEs of idle pooled connections after a restart of PostgreSQL: admin shutdown, crash
   * shutdown, cannot connect now. JdbcCatalog itself reconnects only after connection exceptions
   * (SQLSTATE class 08).
   */
  private static final Map<String, String> POSTGRES =
      Map.of("retryable_status_codes", "57P01,57P02,57P03");

  /**
   * Parse arguments and environment variables.
   *
   * @throws InvalidConfigException with all problems found
   */
  static CatalogConfig parse(final String[] args, final Map<String, String> env) {
    final List<String> problems = new ArrayList<>();
    final Map<String, String> options = options(args, problems);
    final int port = port(options.get("--port"), problems);
    final Map<String, String> properties = properties(env, problems);
    final Optional<Path> keyStore = Optional.ofNullable(env.get(KEY_STORE)).map(Path::of);
    keyStore
        .filter(file -> !Files.isReadable(file))
        .ifPresent(
            file -> problems.add(KEY_STORE + " must be a readable file, not '" + file + "'"));
    if (!problems.isEmpty()) {
      throw new InvalidConfigException(String.join("; ", problems));
    }
    return new CatalogConfig(
        options.getOrDefault("--host", "127.0.0.1"),
        port,
        properties,
        clientDefaults(env),
        hosts(env),
        keyStore);
  }

  private static List<String> hosts(final Map<String, String> env) {
    return Stream.of(env.getOrDefault(HOSTS, "").split(","))
        .map(String::trim)
        .filter(host -> !host.isEmpty())
        .toList();
  }

  /** Return the address of the object store for clients, which may differ from the server's. */
  private static Map<String, String> clientDefaults(final Map<String, String> env) {
    final Map<String, String> defaults = new HashMap<>();
    if (env.containsKey(CLIENT_S3_ENDPOINT)) {
      defaults.put("s3.endpoint", env.get(CLIENT_S3_ENDPOINT));
      defaults.put("s3.path-style-access", "true");
      if (env.containsKey("AWS_REGION")) {
        defaults.put("s3.region", env.get("AWS_REGION"));
        defaults.put("client.region", env.get("AWS_REGION"));
      }
    }
    return Map.copyOf(defaults);
  }

  private static Map<String, String> options(final String[] args, final List<String> problems) {
    final Map<String, String> options = new HashMap<>();
    for (int i = 0; i < args.length; i += 2) {
      if (!Set.of("--host", "--port").contains(args[i])) {
        problems.add("unknown argument '" + args[i] + "'");
        return options;
      }
      if (i + 1 == args.length) {
        problems.add("argument " + args[i] + " requires a value");
        return options;
      }
      options.put(args[i], args[i + 1]);
    }
    return options;
  }

  private static int port(final String text, final List<String> problems) {
    if (text == null) {
      problems.add("argument --port is missing");
      return 0;
    }
    final boolean isNumber = text.matches("\\d{1,5}");
    if (!isNumber || Integer.parseInt(text) > 65535) {
      problems.add("--port must be between 0 and 65535, not '" + text + "'");
      return 0;
    }
    return Integer.parseInt(text);
  }

  private static Map<String, String> properties(
      final Map<String, String> env, final List<String> problems) {
    final Set<String> unknown =
        env.keySet().stream()
            .filter(name -> name.startsWith(PREFIX) && !KNOWN.contains(name))
            .collect(Collectors.toCollection(TreeSet::new));
    if (!unknown.isEmpty()) {
      problems.add("unknown environment variables " + unknown + "; known variables: " + KNOWN);
    }
    final String jdbcUri =
        required(JDBC_URI, "jdbc:sqlite:FILE or jdbc:postgresql:...", env, problems);
    checkUri(required(WAREHOUSE, "s3://BUCKET/", env, problems), WAREHOUSE, problems);
    checkUri(env.get("CATALOG_S3_ENDPOINT"), "CATALOG_S3_ENDPOINT", problems);
    checkUri(env.get(CLIENT_S3_ENDPOINT), CLIENT_S3_ENDPOINT, problems);

    final Map<String, String> properties = new HashMap<>();
    properties.put("catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog");
    properties.put("io-impl", "org.apache.iceberg.aws.s3.S3FileIO");
    // Schema V1 supports views; the default V0 does not.
    properties.put("jdbc.schema-version", "V1");
    if (jdbcUri != null && jdbcUri.startsWith("jdbc:sqlite:")) {
      properties.putAll(SQLITE);
    } else if (jdbcUri != null && jdbcUri.startsWith("jdbc:postgresql:")) {
      properties.putAll(POSTGRES);
    } else if (jdbcUri != null) {
      problems.add(JDBC_URI + " must start with jdbc:sqlite: or jdbc:postgresql:");
    }
    if (env.containsKey("CATALOG_S3_ENDPOINT")) {
      // S3-compatible stores have no DNS name per bucket.
      properties.put("s3.path-style-access", "true");
    }
    PROPERTIES.forEach(
        (variable, property) -> {
          final String value = env.get(variable);
          if (value != null) {
            properties.put(property, value);
          }
        });
    return Map.copyOf(properties);
  }

  private static String required(
      final String name,
      final String example,
      final Map<String, String> env,
      final List<String> problems) {
    final String value = env.get(name);
    if (value == null || value.isBlank()) {
      problems.add("environment variable " + name + " is missing; example: " + example);
      return null;
    }
    return value;
  }

  private static void checkUri(final String text, final String name, final List<String> problems) {
    if (text == null) {
      return;
    }
    try {
      if (new URI(text).getScheme() == null) {
        problems.add(name + " must be a URI with a scheme, not '" + text + "'");
      }
    } catch (final URISyntaxException e) {
      problems.add(name + " must be a URI: " + e.getMessage());
    }
  }

  /** Omit the catalog properties, which may contain a password. */
  @Override
  public String toString() {
    return "CatalogConfig["
        + host
        + ":"
        + port
        + ", warehouse="
        + catalogProperties.get("warehouse")
        + "]";
  }
}
