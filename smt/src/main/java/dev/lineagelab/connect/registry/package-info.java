// SPDX-License-Identifier: Apache-2.0
/**
 * Finds which version of which subject in the schema registry a topic's columns are.
 *
 * <p>{@link dev.lineagelab.connect.registry.SchemaVersionEnricher} is the way in. The registry is
 * the one that the connector's value converter uses. It is asked by a thread of its own, seldom,
 * and what it answers is trusted as little as anything that comes from a network.
 */
package dev.lineagelab.connect.registry;
