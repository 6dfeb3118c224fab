// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.catalog;

import dev.lineagelab.rest.RequestPolicy;
import jakarta.servlet.DispatcherType;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.EnumSet;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.catalog.Catalog;
import org.apache.iceberg.rest.RESTCatalogServlet;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.AbstractConnectionFactory;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SecureRequestCustomizer;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** HTTP server of the Iceberg REST catalog API, backed by a JDBC catalog. */
final class CatalogServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CatalogServer.class);

  /** Name stored in every row of the catalog database; under another name it would appear empty. */
  private static final String CATALOG_NAME = "rest";

  /** Java requires a password; the file's mode protects the key. */
  private static final String KEY_STORE_PASSWORD = "changeit";

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
   * Open the catalog, then listen.
   *
   * @throws IOException if the address cannot be bound
   * @throws RuntimeException if the catalog database cannot be opened
   */
  static CatalogServer start(final CatalogConfig config) throws IOException {
    final Catalog catalog =
        CatalogUtil.buildIcebergCatalog(CATALOG_NAME, config.catalogProperties(), null);
    final Server http = new Server(new QueuedThreadPool(MAX_THREADS));
    final ServerConnector connector =
        config
            .keyStore()
            .map(file -> new ServerConnector(http, 1, 1, encrypted(file)))
            .orElseGet(() -> new ServerConnector(http, 1, 1));
    final InetSocketAddress address = new InetSocketAddress(config.host(), config.port());
    connector.setHost(address.getHostString());
    connector.setPort(address.getPort());
    http.addConnector(connector);
    http.setHandler(new GracefulHandler(routes(catalog, config)));
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

  private static ServletContextHandler routes(final Catalog catalog, final CatalogConfig config) {
    final ServletContextHandler context =
        new ServletContextHandler(ServletContextHandler.NO_SESSIONS);
    final RequestGuard guard = new RequestGuard(new RequestPolicy(config.hosts()));
    context.addFilter(new FilterHolder(guard), "/*", EnumSet.of(DispatcherType.REQUEST));
    final CatalogAdapter adapter = new CatalogAdapter(catalog, config.clientDefaults());
    context.addServlet(new ServletHolder(new RESTCatalogServlet(adapter)), "/*");
    return context;
  }

  /**
   * Return the connections of a server with TLS. The lab's key stores have a well-known password.
   */
  private static ConnectionFactory[] encrypted(final Path keyStore) {
    final SslContextFactory.Server tls = new SslContextFactory.Server();
    tls.setKeyStorePath(keyStore.toString());
    tls.setKeyStoreType("PKCS12");
    tls.setKeyStorePassword(KEY_STORE_PASSWORD);
    final HttpConfiguration http = new HttpConfiguration();
    http.addCustomizer(new SecureRequestCustomizer(false));
    return AbstractConnectionFactory.getFactories(tls, new HttpConnectionFactory(http));
  }

  URI uri() {
    final String scheme =
        connector.getConnectionFactory(SslConnectionFactory.class) == null ? "http" : "https";
    return URI.create(scheme + "://" + connector.getHost() + ":" + connector.getLocalPort());
  }

  void join() throws InterruptedException {
    http.join();
  }

  /** Wait up to {@value #STOP_TIMEOUT_MS} ms for running requests, then close the database. */
  @Override
  public void close() {
    try {
      http.stop();
    } catch (final Exception e) {
      LOG.warn("Stopping the HTTP server failed", e);
    }
    if (catalog instanceof Closeable closeable) {
      try {
        closeable.close();
      } catch (final IOException e) {
        LOG.warn("Closing the catalog failed", e);
      }
    }
  }
}
