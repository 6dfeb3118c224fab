// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import dev.lineagelab.flink.windows.Counts.Reason;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.flink.client.program.ClusterClient;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.CheckpointType;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.InjectClusterClient;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Runs the job on a small cluster of Flink's own, between a script and a list. */
abstract class JobTestCase {
  static final long SECOND = 1000;

  /** A round time, in milliseconds, at which windows of whole seconds begin. */
  static final long NOON = 1_767_268_800_000L;

  static final Windowing WINDOWING =
      new Windowing(
          Duration.ofSeconds(5),
          Duration.ofSeconds(5),
          Duration.ofSeconds(60),
          Duration.ofSeconds(5),
          Duration.ofHours(1));

  private static final long PATIENCE_SECONDS = 180;

  /** Of the cluster that runs: a reporter is of no use once its cluster is gone. */
  private static InMemoryReporter metrics;

  @RegisterExtension
  static final MiniClusterExtension CLUSTER = new MiniClusterExtension(JobTestCase::configuration);

  final Probe probe = new Probe();
  JobClient job;
  private ClusterClient<?> cluster;

  @BeforeEach
  void meet(@InjectClusterClient final ClusterClient<?> client) {
    cluster = client;
  }

  /** Runs a partition to the end of its script: all windows are told. */
  final List<SupplierWindow> run(final List<Step> script) throws Exception {
    return runAll(List.of(script));
  }

  /** Runs two partitions that are read in turn, a step of the first one where it has one. */
  final List<SupplierWindow> run(final List<Step> first, final List<Step> second) throws Exception {
    return runAll(List.of(first, second));
  }

  private List<SupplierWindow> runAll(final List<List<Step>> scripts) throws Exception {
    start(WINDOWING, 1, null, scripts);
    finish();
    return probe.told();
  }

  /** The last that was told of each window: what a compacted topic keeps. */
  final Map<String, SupplierWindow> last() {
    final Map<String, SupplierWindow> last = new HashMap<>();
    probe.told().forEach(window -> last.put(new String(WindowRecords.key(window)), window));
    return last;
  }

  final void start(
      final Windowing windowing,
      final int parallelism,
      final String savepoint,
      final List<List<Step>> scripts)
      throws Exception {
    final Configuration configuration = new Configuration();
    configuration.set(PipelineOptions.AUTO_WATERMARK_INTERVAL, Duration.ofMillis(1));
    configuration.set(PipelineOptions.GENERIC_TYPES, false);
    if (savepoint != null) {
      configuration.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
    }
    final StreamExecutionEnvironment environment =
        StreamExecutionEnvironment.getExecutionEnvironment(configuration);
    environment.setParallelism(parallelism);
    new SupplierWindowsJob(new ScriptedSource(probe, scripts), new CollectingSink(probe), windowing)
        .addTo(environment);
    job = environment.executeAsync("test");
  }

  final void finish() throws Exception {
    job.getJobExecutionResult().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  final void checkpoint() throws Exception {
    cluster
        .triggerCheckpoint(job.getJobID(), CheckpointType.FULL)
        .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  /** Ends the job. Returns where its savepoint is. */
  final String cancelWithSavepoint(final Path folder) throws Exception {
    final String savepoint =
        job.triggerSavepoint(folder.toUri().toString(), SavepointFormatType.CANONICAL)
            .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    job.cancel().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    cluster.requestJobResult(job.getJobID()).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    return savepoint;
  }

  /** How many orders the job has left out for a reason, as the metrics of its last attempt say. */
  final long leftOut(final Reason reason) {
    final TreeMap<Integer, Long> byAttempt = new TreeMap<>();
    metrics
        .getMetricsByGroup()
        .forEach(
            (group, ofGroup) -> {
              final Map<String, String> names = group.getAllVariables();
              if (ofGroup.get(reason.metric()) instanceof Counter counter
                  && job.getJobID().toString().equals(names.get("<job_id>"))) {
                byAttempt.merge(
                    Integer.valueOf(names.get("<task_attempt_num>")),
                    counter.getCount(),
                    Long::sum);
              }
            });
    return byAttempt.lastEntry().getValue();
  }

  private static MiniClusterResourceConfiguration configuration() {
    metrics = InMemoryReporter.createWithRetainedMetrics();
    final Configuration configuration = metrics.addToConfiguration(new Configuration());
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1);
    configuration.set(
        RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(1));
    return new MiniClusterResourceConfiguration.Builder()
        .setNumberTaskManagers(1)
        .setNumberSlotsPerTaskManager(4)
        .setConfiguration(configuration)
        .build();
  }
}
