// SPDX-License-Identifier: Apache-2.0
/**
 * Extracts the datasets that a connector reads and writes, and their column lineage.
 *
 * <p>The entry point is {@link dev.lineagelab.connect.datasets.ConnectorLineageExtractor}. Topics
 * are known for every connector; the other side is resolved by a {@link
 * dev.lineagelab.connect.datasets.DatasetResolver} for the connector's family, discovered by
 * ServiceLoader, so third parties can add resolvers. The result is a pure function of the
 * connector's configuration and the observed schemas. Configuration values that only the worker can
 * resolve ({@code ${provider:key}}) never become part of a name.
 */
package dev.lineagelab.connect.datasets;
