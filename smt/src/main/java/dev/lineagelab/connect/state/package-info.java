// SPDX-License-Identifier: Apache-2.0
/**
 * State shared by the workers of a group, so that a run survives the worker that leads it.
 *
 * <p>The state is stored in a compacted topic with one record for each of: a connector's run, the
 * observation of a topic by its tasks, the record counts of a worker's tasks, and the last event of
 * a run. Every worker writes the state of its own tasks and reads all of it. Each connector has one
 * leader that sends its events, the worker that Connect assigned it to, so that events need not be
 * merged. If every worker sent events of the same run, one that observes little would overwrite
 * facets of one that observes more.
 */
package dev.lineagelab.connect.state;
