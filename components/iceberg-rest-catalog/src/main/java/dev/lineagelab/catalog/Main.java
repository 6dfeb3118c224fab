// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.catalog;

import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Entry point of the catalog server, which runs until SIGTERM. {@code GET /v1/config} serves as the
 * readiness probe.
 *
 * <p>Exit codes: 2 for invalid settings, 1 if the address cannot be bound or the database cannot be
 * opened, 143 after SIGTERM.
 */
public final class Main {
  private static final Logger LOG = LoggerFactory.getLogger(Main.class);
  private static final int EXIT_FAILED = 1;
  private static final int EXIT_CONFIG = 2;

  private Main() {}

  public static void main(final String[] args) throws InterruptedException {
    final CatalogServer server = startOrExit(args);
    Runtime.getRuntime().addShutdownHook(new Thread(server::close, "shutdown"));
    server.join();
  }

  private static CatalogServer startOrExit(final String[] args) {
    try {
      final CatalogConfig config = CatalogConfig.parse(args, System.getenv());
      return start(config);
    } catch (final InvalidConfigException e) {
      System.err.println("iceberg-rest-catalog: " + e.getMessage() + ". " + CatalogConfig.USAGE);
      System.exit(EXIT_CONFIG);
      throw new AssertionError("unreachable");
    }
  }

  private static CatalogServer start(final CatalogConfig config) {
    try {
      final CatalogServer server = CatalogServer.start(config);
      LOG.info("Iceberg REST catalog on {}, {}", server.uri(), config);
      return server;
    } catch (final IOException e) {
      System.err.println(
          "iceberg-rest-catalog: cannot listen on "
              + (config.host() + ":" + config.port())
              + (": " + rootMessage(e) + ". Free the port or choose another one"));
    } catch (final RuntimeException e) {
      System.err.println(
          "iceberg-rest-catalog: cannot open the catalog: "
              + rootMessage(e)
              + ". Check CATALOG_JDBC_URI, and that its database is reachable and writable");
    }
    System.exit(EXIT_FAILED);
    throw new AssertionError("unreachable");
  }

  private static String rootMessage(final Throwable thrown) {
    Throwable root = thrown;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    return root.getMessage();
  }
}
