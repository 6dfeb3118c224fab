// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.openlineage.spool;

import io.openlineage.client.transports.Transport;
import io.openlineage.client.transports.TransportBuilder;
import io.openlineage.client.transports.TransportConfig;
import io.openlineage.client.transports.TransportFactory;
import java.io.IOException;

/** Registers the transport with OpenLineage under the type {@value #TYPE}. */
public final class SpoolTransportBuilder implements TransportBuilder {
  static final String TYPE = "spool";

  @Override
  public String getType() {
    return TYPE;
  }

  @Override
  public TransportConfig getConfig() {
    return new SpoolConfig();
  }

  /**
   * @throws IllegalArgumentException a property is missing or invalid, or the folder cannot be
   *     written
   */
  @Override
  public Transport build(TransportConfig given) {
    SpoolConfig config = (SpoolConfig) given;
    config.requireComplete();
    try {
      SpoolFolder.requireWritable(config.folder());
    } catch (IOException error) {
      throw SpoolConfig.invalid(
          "transport.directory names "
              + config.getDirectory()
              + ", where no file can be written: "
              + error);
    }
    Transport transport = new TransportFactory(config.getTransport()).build();
    Delivery delivery =
        new Delivery(transport, config.folder(), config.byteLimit(), config.closeTimeout());
    delivery.adopt();
    return new SpoolTransport(transport, delivery);
  }
}
