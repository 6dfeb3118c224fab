// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.events;

/**
 * State of the queue to a destination.
 *
 * @param waiting events that are queued and not accepted yet
 * @param dropped events that were given up since the worker's start
 */
public record QueueState(int waiting, long dropped) {}
