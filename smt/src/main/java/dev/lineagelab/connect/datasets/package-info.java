// SPDX-License-Identifier: Apache-2.0
/**
 * Finds which datasets a connector reads and writes, and how their columns hang together.
 *
 * <p>{@link dev.lineagelab.connect.datasets.ConnectorLineageExtractor} is the way in. The topics
 * are known of every connector; the other side is up to a {@link
 * dev.lineagelab.connect.datasets.DatasetResolver} for the connector's family, found by
 * ServiceLoader, so that anybody can add one. Everything here is a pure function of the connector's
 * configuration and of the schemas that were seen. A value of the configuration that only the
 * worker resolves ({@code ${provider:key}}) is part of no name.
 */
package dev.lineagelab.connect.datasets;
