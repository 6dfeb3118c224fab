// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

/**
 * A run event that the state machine requires to be sent.
 *
 * @param generation of the run
 * @param time in milliseconds since the epoch
 * @param reason why the event is sent, in words for the reader of the event
 * @param isPeriodic whether the run is unchanged since the event before
 * @param usesPreviousSnapshot whether the event describes the connector as of the poll before this
 *     one, with the datasets it had then
 */
public record DueEvent(
    EventType type,
    long generation,
    long time,
    String reason,
    boolean isPeriodic,
    boolean usesPreviousSnapshot) {}
