// SPDX-License-Identifier: Apache-2.0
/**
 * What the workers of a group know together, so that a run outlives the worker that spoke of it.
 *
 * <p>It lies in a compacted topic with one record for each fact: where a connector's run stands,
 * what its tasks saw of a topic, how many records they carried, and what the last event said. Every
 * worker writes what it sees of its own tasks and reads all. Of a connector one worker speaks, the
 * one that Connect gave it to: so events need not be merged, and the facts of other workers' tasks
 * reach the speaker over the topic. The other way, that each worker sends events of the same run
 * with its part of the truth, would let a worker that sees little overwrite facets of one that sees
 * more.
 */
package dev.lineagelab.connect.state;
