// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.openlineage.spool;

import io.openlineage.client.OpenLineage.DatasetEvent;
import io.openlineage.client.OpenLineage.JobEvent;
import io.openlineage.client.OpenLineage.RunEvent;
import io.openlineage.client.transports.Transport;
import java.time.Duration;

/**
 * Stores run events, which a thread delivers: a receiver that is down or slow neither delays nor
 * fails the job, and loses nothing.
 *
 * <p>Dataset and job events pass at once, as OpenLineage's client cannot read them from a file. The
 * agents send none.
 */
@SuppressWarnings("try") // close() may be interrupted, as its declaration in Transport says.
final class SpoolTransport extends Transport {
  private final Transport transport;
  private final Delivery delivery;

  SpoolTransport(Transport transport, Delivery delivery) {
    this.transport = transport;
    this.delivery = delivery;
  }

  @Override
  public void emit(RunEvent event) {
    delivery.add(event);
  }

  /** The timeout is that of a delivery, which the caller does not wait for. */
  @Override
  public void emit(RunEvent event, Duration timeout) {
    delivery.add(event);
  }

  @Override
  public void emit(DatasetEvent event) {
    transport.emit(event);
  }

  @Override
  public void emit(JobEvent event) {
    transport.emit(event);
  }

  @Override
  public void close() throws Exception {
    delivery.close();
    transport.close();
  }
}
