// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

import java.util.List;

/** Destination of events. Not thread-safe. */
public interface Transport extends AutoCloseable {
  /**
   * Send events and wait until they are accepted or rejected.
   *
   * @return result for the events settled, counted from the first of the batch
   * @throws TransportException no event was settled; the attempt may be retried
   * @throws InterruptedException the thread is to stop
   */
  SendResult send(List<OutgoingEvent> events) throws TransportException, InterruptedException;

  @Override
  void close();
}
