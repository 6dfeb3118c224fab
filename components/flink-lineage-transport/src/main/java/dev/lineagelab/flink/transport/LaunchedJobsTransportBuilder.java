// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.transport;

import io.openlineage.client.transports.Transport;
import io.openlineage.client.transports.TransportBuilder;
import io.openlineage.client.transports.TransportConfig;
import io.openlineage.client.transports.TransportFactory;

/** Registers the transport with OpenLineage under the type {@value #TYPE}. */
public final class LaunchedJobsTransportBuilder implements TransportBuilder {
  static final String TYPE = "launched-jobs";

  @Override
  public String getType() {
    return TYPE;
  }

  @Override
  public TransportConfig getConfig() {
    return new LaunchedJobsConfig();
  }

  /**
   * @throws IllegalArgumentException a property is missing or invalid
   */
  @Override
  public Transport build(TransportConfig given) {
    LaunchedJobsConfig config = (LaunchedJobsConfig) given;
    config.requireComplete();
    Transport transport = new TransportFactory(config.getTransport()).build();
    return new LaunchedJobsTransport(transport, config.getJobIdPrefix());
  }
}
