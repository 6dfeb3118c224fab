// SPDX-License-Identifier: Apache-2.0
/**
 * Restarts of failed connectors and tasks, which Kafka Connect leaves to its operator.
 *
 * <p>A sink whose store is away for a moment fails for good, even if the store is back a second
 * later.
 */
package dev.lineagelab.restarts;
