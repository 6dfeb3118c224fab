// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

/**
 * How a task stands, as Connect says.
 *
 * @param state RUNNING, PAUSED, FAILED, UNASSIGNED, RESTARTING
 * @param worker {@code host:port} of the worker that has it, or had it last; null if unknown
 * @param trace of the failure; null if there is none
 */
public record TaskStatus(String state, String worker, String trace) {}
