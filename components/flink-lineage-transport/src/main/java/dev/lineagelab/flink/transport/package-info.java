// SPDX-License-Identifier: Apache-2.0
/**
 * OpenLineage transport for a Flink cluster in which a launcher outside of the cluster reports the
 * runs of some jobs.
 *
 * <p>OpenLineage's listener in the cluster reports every job. For a job with a launcher, that makes
 * two reporters of one run, which contradict each other: a job that is stopped with a savepoint is
 * FINISHED for Flink, so that the listener sends COMPLETE, while the launcher, which knows of the
 * stop, sends ABORT. The JobManager has one set of listeners for all jobs, so that no job can
 * switch it off. With this transport, the launcher alone reports such runs.
 */
package dev.lineagelab.flink.transport;
