// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

/**
 * What is seen of a connector in one look.
 *
 * @param recreated whether it was deleted since the last look, however it stands now
 * @param datasets fingerprint of what it reads and writes
 * @param config fingerprint of its configuration
 * @param isChanged whether datasets that differ from the run's do so by a change of configuration
 * @param isNews whether lineage differs from what the last event said
 * @param isDue whether it is time for another event anyway
 * @param now in milliseconds
 */
public record Sighting(
    Condition condition,
    boolean recreated,
    String datasets,
    String config,
    boolean isChanged,
    boolean isNews,
    boolean isDue,
    long now) {}
