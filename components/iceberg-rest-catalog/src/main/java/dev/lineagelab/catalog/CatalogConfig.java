// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.catalog;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What the server was told: where to listen (arguments), what to serve (environment).
 *
 * <p>The environment carries the rest because it carries secrets, and arguments can be read by
 * every user of the machine. Object-store credentials and region are not here at all: the AWS SDK
 * takes them from {@code AWS_ACCESS_KEY_ID}, {@code AWS_SECRET_ACCESS_KEY} and {@code AWS_REGION}
 * itself.
 *
 * @param host the one address to bind
 * @param port 0 takes any free one
 * @param catalogProperties as Iceberg's {@code JdbcCatalog} understands them
 */
record CatalogConfig(String host, int port, Map<String, String> catalogProperties) {

  static final String USAGE = "usage: iceberg-rest-catalog --host HOST --port PORT";

  private static final String PREFIX = "CATALOG_";
  private static final String JDBC_URI = "CATALOG_JDBC_URI";
  private static final String WAREHOUSE = "CATALOG_WAREHOUSE";

  /** Environment variable to catalog property. */
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

  /**
   * SQLite takes one writer at a time and answers others with SQLITE_BUSY, which JdbcCatalog passes
   * on as a failed commit. One connection makes the requests of this server queue up in its pool;
   * the busy timeout is for whoever else has the file open. WAL lets such a reader in while a
   * commit is written.
   */
  private static final Map<String, String> SQLITE =
      Map.of("clients", "1", "jdbc.busy_timeout", "10000", "jdbc.journal_mode", "WAL");

  /**
   * What an idle connection of the pool says after a restart of the server: ended by the
   * administrator, by a crash, or not yet accepting connections. JdbcCatalog connects anew by
   * itself only after errors of the connection (SQLSTATE 08).
   */
  private static final Map<String, String> POSTGRES =
      Map.of("retryable_status_codes", "57P01,57P02,57P03");

  /**
   * Reads arguments and environment; throws {@link InvalidConfigException} with everything that is
   * wrong.
   */
  static CatalogConfig parse(final String[] args, final Map<String, String> env) {
    final List<String> problems = new ArrayList<>();
    final Map<String, String> options = options(args, problems);
    final int port = port(options.get("--port"), problems);
    final Map<String, String> properties = properties(env, problems);
    if (!problems.isEmpty()) {
      throw new InvalidConfigException(String.join("; ", problems));
    }
    return new CatalogConfig(options.getOrDefault("--host", "127.0.0.1"), port, properties);
  }

  private static Map<String, String> options(final String[] args, final List<String> problems) {
    final Map<String, String> options = new HashMap<>();
    for (int i = 0; i < args.length; i += 2) {
      if (!Set.of("--host", "--port").contains(args[i])) {
        problems.add("unknown argument '" + args[i] + "'");
        return options;
      }
      if (i + 1 == args.length) {
        problems.add(args[i] + " needs a value");
        return options;
      }
      options.put(args[i], args[i + 1]);
    }
    return options;
  }

  private static int port(final String text, final List<String> problems) {
    if (text == null) {
      problems.add("--port is missing");
      return 0;
    }
    final boolean isNumber = text.matches("\\d{1,5}");
    if (!isNumber || Integer.parseInt(text) > 65535) {
      problems.add("--port must be 0 to 65535, not '" + text + "'");
      return 0;
    }
    return Integer.parseInt(text);
  }

  private static Map<String, String> properties(
      final Map<String, String> env, final List<String> problems) {
    final Set<String> unknown =
        env.keySet().stream()
            .filter(name -> name.startsWith(PREFIX) && !PROPERTIES.containsKey(name))
            .collect(Collectors.toCollection(TreeSet::new));
    if (!unknown.isEmpty()) {
      problems.add(
          "unknown environment " + unknown + ", known are " + new TreeSet<>(PROPERTIES.keySet()));
    }
    final String jdbcUri =
        required(JDBC_URI, "jdbc:sqlite:FILE or jdbc:postgresql:...", env, problems);
    checkUri(required(WAREHOUSE, "s3://BUCKET/", env, problems), WAREHOUSE, problems);
    checkUri(env.get("CATALOG_S3_ENDPOINT"), "CATALOG_S3_ENDPOINT", problems);

    final Map<String, String> properties = new HashMap<>();
    properties.put("catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog");
    properties.put("io-impl", "org.apache.iceberg.aws.s3.S3FileIO");
    // V1 has views; without it the catalog's database is laid out as of before there were any.
    properties.put("jdbc.schema-version", "V1");
    if (jdbcUri != null && jdbcUri.startsWith("jdbc:sqlite:")) {
      properties.putAll(SQLITE);
    } else if (jdbcUri != null && jdbcUri.startsWith("jdbc:postgresql:")) {
      properties.putAll(POSTGRES);
    } else if (jdbcUri != null) {
      problems.add(JDBC_URI + " must start with jdbc:sqlite: or jdbc:postgresql:");
    }
    if (env.containsKey("CATALOG_S3_ENDPOINT")) {
      // A store that is not AWS has no DNS name for each bucket.
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
      problems.add("environment " + name + " is missing, for example " + example);
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

  /** Never the properties: they may hold a password. */
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
