// SPDX-License-Identifier: Apache-2.0
/**
 * Kafka Connect plugins for tests and benchmarks: failures at a given stage, slow sources, records
 * of unusual types, a sink that measures cost.
 *
 * <p>They represent connectors and transforms unknown to the lineage plugin, and share no code with
 * it.
 */
package dev.lineagelab.testing;
