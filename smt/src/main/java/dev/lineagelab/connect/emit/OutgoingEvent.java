// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.emit;

/**
 * An event that is to be sent.
 *
 * @param key of all events whose order matters to one another: the job
 * @param json the event
 */
public record OutgoingEvent(String key, String json) {}
