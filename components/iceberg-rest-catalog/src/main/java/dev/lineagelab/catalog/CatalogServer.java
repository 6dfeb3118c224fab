// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.catalog;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The Iceberg REST protocol on one address, over a catalog kept in a database. */
final class CatalogServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CatalogServer.class);

  /** Stored in every row of the catalog's tables: another name would show an empty catalog. */
  private static final String CATALOG_NAME = "rest";

  private static final int MAX_THREADS = 32;
  private static final long STOP_TIMEOUT_MS = 5_000;

  private final Catalog catalog;
  private final Server http;
  private final ServerConnector connector;

  private CatalogServer(final Catalog catalog, final Server http, final ServerConnector connector) {
    this.catalog = catalog;
    this.http = http;
    this.connector = connector;
  }

  /**
   * Opens the catalog, then listens.
   *
   * @throws IOException the address cannot be bound
   * @throws RuntimeException the catalog's database cannot be opened
   */
  static CatalogServer start(final CatalogConfig config) throws IOException {
    final Catalog catalog =
        CatalogUtil.buildIcebergCatalog(CATALOG_NAME, config.catalogProperties(), null);
    final Server http = new Server(new QueuedThreadPool(MAX_THREADS));
    final ServerConnector connector = new ServerConnector(http, 1, 1);
    final InetSocketAddress address = new InetSocketAddress(config.host(), config.port());
    connector.setHost(address.getHostString());
    connector.setPort(address.getPort());
    http.addConnector(connector);
    http.setHandler(new GracefulHandler(routes(catalog)));
    http.setStopTimeout(STOP_TIMEOUT_MS);
    final CatalogServer server = new CatalogServer(catalog, http, connector);
    try {
      http.start();
    } catch (final IOException e) {
      server.close();
      throw e;
    } catch (final Exception e) {
      server.close();
      throw new IllegalStateException("HTTP server did not start", e);
    }
    return server;
  }

  private static ServletContextHandler routes(final Catalog catalog) {
    final ServletContextHandler context =
        new ServletContextHandler(ServletContextHandler.NO_SESSIONS);
    context.addServlet(new ServletHolder(new RESTCatalogServlet(new QuietAdapter(catalog))), "/*");
    return context;
  }

  URI uri() {
    return URI.create("http://" + connector.getHost() + ":" + connector.getLocalPort());
  }

  void join() throws InterruptedException {
    http.join();
  }

  /**
   * Lets running requests finish (at most {@value #STOP_TIMEOUT_MS} ms), then closes the database.
   */
  @Override
  public void close() {
    try {
      http.stop();
    } catch (final Exception e) {
      LOG.warn("HTTP server did not stop cleanly", e);
    }
    if (catalog instanceof Closeable closeable) {
      try {
        closeable.close();
      } catch (final IOException e) {
        LOG.warn("Catalog did not close cleanly", e);
      }
    }
  }
}
