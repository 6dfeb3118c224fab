// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

/**
 * Event that ends a run, kept until the destination has accepted it.
 *
 * @param generation of the run
 * @param json the event
 */
public record TerminalEvent(String connector, long generation, String json) {}
