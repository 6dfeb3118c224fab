// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect;

import dev.lineagelab.connect.agent.Plugin;
import dev.lineagelab.connect.events.Producer;
import java.util.Map;
import org.apache.kafka.connect.rest.ConnectRestExtension;
import org.apache.kafka.connect.rest.ConnectRestExtensionContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the state of all connectors of the worker's group. It adds nothing to the REST API: an
 * extension is what Connect shows that state to.
 */
public class OpenLineageRestExtension implements ConnectRestExtension {
  private static final Logger LOG = LoggerFactory.getLogger(OpenLineageRestExtension.class);

  private Map<String, ?> properties = Map.of();
  private AutoCloseable registration = () -> {};

  @Override
  public String version() {
    return Producer.VERSION;
  }

  @Override
  public void configure(final Map<String, ?> worker) {
    properties = worker;
  }

  /** A mistake in the options costs the lineage, never the worker. */
  @Override
  public void register(final ConnectRestExtensionContext context) {
    try {
      registration = Plugin.extensionRegistered(properties, context.clusterState());
    } catch (final Throwable e) {
      LOG.error("No lineage by the REST extension; the worker is not affected", e);
    }
  }

  /** Called first when a worker stops, while its tasks still run. */
  @Override
  public void close() {
    try {
      registration.close();
    } catch (final Exception e) {
      LOG.error("The last lineage events may be lost", e);
    }
  }
}
