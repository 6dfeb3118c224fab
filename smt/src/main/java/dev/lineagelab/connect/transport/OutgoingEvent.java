// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

/**
 * Serialized event to be sent.
 *
 * @param key job of the event; events with the same key stay in order
 * @param json the event
 */
public record OutgoingEvent(String key, String json) {}
