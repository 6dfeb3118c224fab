// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.emit;

import java.util.List;

/** A way out for events. Used by one thread. */
public interface Transport extends AutoCloseable {
  /**
   * Sends events and waits until they have arrived.
   *
   * @return how many of them, from the first on, need not be sent again: they have arrived, or were
   *     refused for good
   * @throws TransportException none of those that are left has arrived, and it is worth to try
   *     again
   * @throws InterruptedException the thread is to end
   */
  Sent send(List<OutgoingEvent> events) throws TransportException, InterruptedException;

  @Override
  void close();

  /**
   * What became of the events.
   *
   * @param accepted how many have arrived
   * @param refused why each of the others never will
   */
  record Sent(int accepted, List<String> refused) {
    public Sent {
      refused = List.copyOf(refused);
    }

    int settled() {
      return accepted + refused.size();
    }
  }
}
