// SPDX-License-Identifier: Apache-2.0
/**
 * Finds the version of a subject in the schema registry that has a topic's columns.
 *
 * <p>The entry point is {@link dev.lineagelab.connect.registry.SchemaVersionEnricher}. The registry
 * is the one of the connector's value converter. Requests are sent by a separate thread under a
 * rate limit; responses are treated as untrusted input.
 */
package dev.lineagelab.connect.registry;
