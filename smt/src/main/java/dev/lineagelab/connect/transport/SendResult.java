// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

import java.util.List;

/**
 * Result of sending a batch of events.
 *
 * @param accepted number of events that the destination has accepted
 * @param rejected one reason for each event that was rejected for good
 */
public record SendResult(int accepted, List<String> rejected) {
  public SendResult {
    rejected = List.copyOf(rejected);
  }

  /** Number of events, from the first of the batch on, that must not be sent again. */
  int settled() {
    return accepted + rejected.size();
  }
}
