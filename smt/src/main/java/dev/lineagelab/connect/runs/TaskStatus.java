// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

/**
 * Status of a task as Connect reports it.
 *
 * @param state RUNNING, PAUSED, FAILED, UNASSIGNED, RESTARTING
 * @param worker {@code host:port} of the worker that owns the task or owned it last; null if
 *     unknown
 * @param trace stack trace of the failure; null if there is none
 */
public record TaskStatus(String state, String worker, String trace) {}
