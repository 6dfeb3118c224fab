// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect;

import dev.lineagelab.connect.agent.PluginRuntime;
import dev.lineagelab.connect.events.Producer;
import java.util.Map;
import org.apache.kafka.connect.rest.ConnectRestExtension;
import org.apache.kafka.connect.rest.ConnectRestExtensionContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tracks the state of all connectors of the worker's group. It adds no resource to the REST API: a
 * REST extension is the plugin type that Connect gives access to the cluster state.
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

  /** Start lineage; a failure, such as an invalid option, never fails the worker. */
  @Override
  public void register(final ConnectRestExtensionContext context) {
    try {
      registration = PluginRuntime.startExtension(properties, context.clusterState());
    } catch (final Throwable e) {
      LOG.error("Cannot start lineage by the REST extension; the worker is not affected", e);
    }
  }

  /** Stop lineage. Called first when a worker stops, while its tasks still run. */
  @Override
  public void close() {
    try {
      registration.close();
    } catch (final Exception e) {
      LOG.error("Cannot close the lineage agent; its last events may be lost", e);
    }
  }
}
