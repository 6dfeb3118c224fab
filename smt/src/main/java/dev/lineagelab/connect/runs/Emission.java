// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

/**
 * An event that is due.
 *
 * @param generation of the run that it is about
 * @param reason why, for people
 * @param isPeriodic whether nothing has happened but time
 * @param isOfPast whether it is about the run as it was before this look: with the datasets of then
 */
public record Emission(
    EventType type,
    long generation,
    long time,
    String reason,
    boolean isPeriodic,
    boolean isOfPast) {}
