// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

import io.openlineage.client.Clients;
import io.openlineage.client.ConfigPathProvider;
import io.openlineage.client.DefaultConfigPathProvider;
import io.openlineage.client.OpenLineageClient;
import io.openlineage.client.OpenLineageClientException;
import io.openlineage.client.OpenLineageClientUtils;
import io.openlineage.client.transports.HttpTransportResponseException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands events to OpenLineage's own client, which has more transports and reads {@code
 * openlineage.yml}. The client is not part of this plugin: its classes are loaded with this one.
 */
final class OpenLineageTransport implements Transport {
  private static final Logger LOG = LoggerFactory.getLogger(OpenLineageTransport.class);

  private final OpenLineageClient client;

  /**
   * Create the client.
   *
   * @param config path of its configuration; empty for the places where it looks itself
   * @throws IllegalArgumentException the configuration is not usable
   */
  OpenLineageTransport(final String config) {
    final Path path = Path.of(config);
    if (!config.isEmpty() && !Files.isReadable(path)) {
      throw new IllegalArgumentException(
          "the configuration " + config + " of OpenLineage's client cannot be read");
    }
    final ConfigPathProvider paths =
        config.isEmpty() ? new DefaultConfigPathProvider() : () -> List.of(path);
    try {
      client = withOwnClassLoader(() -> Clients.newClient(paths));
    } catch (final OpenLineageClientException e) {
      throw new IllegalArgumentException(
          "OpenLineage's client has no usable configuration ("
              + (config.isEmpty() ? "OPENLINEAGE_CONFIG, openlineage.yml, OPENLINEAGE__*" : config)
              + "): "
              + e.getMessage(),
          e);
    }
  }

  @Override
  public SendResult send(final List<OutgoingEvent> events) throws TransportException {
    int accepted = 0;
    final List<String> rejected = new ArrayList<>();
    for (final OutgoingEvent event : events) {
      try {
        withOwnClassLoader(
            () -> {
              client.emit(OpenLineageClientUtils.runEventFromJson(event.json()));
              return client;
            });
        accepted++;
      } catch (final HttpTransportResponseException e) {
        if (HttpTransport.isRetriable(e.getStatusCode())) {
          return partOf(accepted, rejected, e);
        }
        rejected.add(e.getMessage());
      } catch (final OpenLineageClientException e) {
        return partOf(accepted, rejected, e);
      } catch (final UncheckedIOException e) {
        rejected.add("OpenLineage's client cannot read the event: " + e.getMessage());
      }
    }
    return new SendResult(accepted, rejected);
  }

  /** Result of a batch of which an event cannot be sent at present. */
  private static SendResult partOf(
      final int accepted, final List<String> rejected, final RuntimeException failure)
      throws TransportException {
    if (accepted + rejected.size() == 0) {
      throw new TransportException(
          "OpenLineage's client cannot send an event: " + failure.getMessage(), failure);
    }
    return new SendResult(accepted, rejected);
  }

  private interface Action {
    OpenLineageClient run();
  }

  /** The client finds transports by the context class loader, which is the worker's. */
  private static OpenLineageClient withOwnClassLoader(final Action action) {
    final Thread thread = Thread.currentThread();
    final ClassLoader former = thread.getContextClassLoader();
    thread.setContextClassLoader(OpenLineageTransport.class.getClassLoader());
    try {
      return action.run();
    } finally {
      thread.setContextClassLoader(former);
    }
  }

  @Override
  public void close() {
    try {
      client.close();
    } catch (final Exception e) {
      LOG.warn("Cannot close OpenLineage's client: {}", e.toString());
    }
  }
}
