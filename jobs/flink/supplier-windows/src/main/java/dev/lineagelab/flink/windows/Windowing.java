// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.time.Duration;

/**
 * How orders go into windows.
 *
 * @param size of a window
 * @param outOfOrderness how much older than its predecessors an order of a partition may be and
 *     still be on time
 * @param idleness after which a partition without orders no longer holds up the others
 * @param allowedLateness for how long after its end a window still takes orders, and is told again
 * @param ahead how long after its record an order may claim to be placed
 */
record Windowing(
    Duration size,
    Duration outOfOrderness,
    Duration idleness,
    Duration allowedLateness,
    Duration ahead) {}
