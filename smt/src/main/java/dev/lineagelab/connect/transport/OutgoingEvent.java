// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

/**
 * Serialized event to be sent.
 *
 * @param key job of the event; events with the same key stay in order
 * @param json the event
 * @param settled called by the sender thread once the destination has accepted or rejected the
 *     event, which is never dropped; null if it may be dropped
 */
public record OutgoingEvent(String key, String json, Runnable settled) {
  /** Event that may be dropped, as a later one has the same content. */
  public OutgoingEvent(final String key, final String json) {
    this(key, json, null);
  }

  /** Return whether the event may be dropped. */
  public boolean isDroppable() {
    return settled == null;
  }
}
