// SPDX-License-Identifier: Apache-2.0
/**
 * Delivery of events: a bounded queue, a sender thread and one transport for each kind of
 * destination, so that whatever creates an event never waits for its delivery.
 */
package dev.lineagelab.connect.transport;
