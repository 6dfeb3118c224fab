// SPDX-License-Identifier: Apache-2.0
/**
 * Adds what only other services know to the lineage of a connector: the version of a subject in the
 * schema registry that has a topic's columns, the columns of topics that no transform observes, and
 * those of tables in an Iceberg catalog.
 *
 * <p>The entry point is {@link dev.lineagelab.connect.registry.ServiceLookups}. The registry is the
 * one of the connector's value converter, the catalog the one of an Iceberg sink. Requests are sent
 * by separate threads under rate limits; responses are treated as untrusted input.
 */
package dev.lineagelab.connect.registry;
