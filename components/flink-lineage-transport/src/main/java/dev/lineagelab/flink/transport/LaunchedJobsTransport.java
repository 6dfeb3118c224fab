// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.transport;

import io.openlineage.client.OpenLineage.DatasetEvent;
import io.openlineage.client.OpenLineage.JobEvent;
import io.openlineage.client.OpenLineage.RunEvent;
import io.openlineage.client.OpenLineage.RunEvent.EventType;
import io.openlineage.client.transports.Transport;
import io.openlineage.flink.facets.FlinkJobDetailsFacet;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * Drops what the launcher of a job reports itself. Such a job is recognised by its id: a prefix and
 * one digit.
 *
 * <ul>
 *   <li>Digit {@value #NAMES_DATASETS}: the launcher names the datasets of the job. All events of
 *       the listener are dropped.
 *   <li>Another digit: only the listener knows the datasets. START and RUNNING pass, terminal
 *       events are dropped.
 * </ul>
 *
 * <p>Events of jobs without the prefix pass.
 */
@SuppressWarnings("try") // close() may be interrupted, as its declaration in Transport says.
final class LaunchedJobsTransport extends Transport {
  private static final Set<EventType> TERMINAL =
      EnumSet.of(EventType.COMPLETE, EventType.ABORT, EventType.FAIL);

  private static final String NAMES_DATASETS = "1";

  /** Key under which the listener adds the facet with the job id. */
  private static final String JOB_FACET = "flink_job";

  private final Transport transport;
  private final String jobIdPrefix;

  /**
   * @param transport receives what passes
   * @param jobIdPrefix first hexadecimal digits of the ids of jobs that have a launcher
   */
  LaunchedJobsTransport(Transport transport, String jobIdPrefix) {
    this.transport = transport;
    this.jobIdPrefix = jobIdPrefix;
  }

  @Override
  public void emit(RunEvent event) {
    if (passes(event)) {
      transport.emit(event);
    }
  }

  @Override
  public void emit(RunEvent event, Duration timeout) {
    if (passes(event)) {
      transport.emit(event, timeout);
    }
  }

  @Override
  public void emit(DatasetEvent event) {
    transport.emit(event);
  }

  @Override
  public void emit(JobEvent event) {
    transport.emit(event);
  }

  @Override
  public void close() throws Exception {
    transport.close();
  }

  private boolean passes(RunEvent event) {
    Optional<String> jobId = jobId(event).filter(id -> id.startsWith(jobIdPrefix));
    if (jobId.isEmpty()) {
      return true;
    }
    boolean namesDatasets = jobId.get().startsWith(NAMES_DATASETS, jobIdPrefix.length());
    return !namesDatasets && !TERMINAL.contains(event.getEventType());
  }

  private static Optional<String> jobId(RunEvent event) {
    return Optional.ofNullable(event.getRun().getFacets())
        .map(facets -> facets.getAdditionalProperties().get(JOB_FACET))
        .filter(FlinkJobDetailsFacet.class::isInstance)
        .map(facet -> ((FlinkJobDetailsFacet) facet).getJobId());
  }
}
