// SPDX-License-Identifier: Apache-2.0
/**
 * OpenLineage transport that keeps events on disk until another transport has delivered them.
 *
 * <p>For OpenLineage's agents (Spark, Flink), which give up an event that the receiver does not
 * accept at once. Uses only the client that is inside of the agents, and no class that they
 * relocate.
 */
package dev.lineagelab.openlineage.spool;
