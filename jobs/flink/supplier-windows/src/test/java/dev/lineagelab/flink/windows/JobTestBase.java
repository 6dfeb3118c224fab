// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import dev.lineagelab.flink.windows.DropCounters.Reason;
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

/** Base of tests that run the job on a MiniCluster, with scripted sources and a collecting sink. */
abstract class JobTestBase {
  static final long SECOND = 1000;

  /** Start of a window, in milliseconds since the epoch. */
  static final long NOON = 1_767_268_800_000L;

  static final Windowing WINDOWING =
      new Windowing(
          Duration.ofSeconds(5),
          Duration.ofSeconds(5),
          Duration.ofSeconds(60),
          Duration.ofSeconds(5),
          Duration.ofHours(1));

  private static final long TIMEOUT_SECONDS = 180;

  /** Metrics of the running cluster. Each cluster requires a new reporter. */
  private static InMemoryReporter metrics;

  @RegisterExtension
  static final MiniClusterExtension CLUSTER = new MiniClusterExtension(JobTestBase::configuration);

  final Probe probe = new Probe();
  JobClient job;
  private ClusterClient<?> cluster;

  @BeforeEach
  void setCluster(@InjectClusterClient final ClusterClient<?> client) {
    cluster = client;
  }

  /** Runs one partition to the end of its script and returns the emitted windows. */
  final List<SupplierWindow> run(final List<Step> script) throws Exception {
    return runAll(List.of(script));
  }

  /** Runs two partitions; the reader prefers the first one whenever it has a step to do. */
  final List<SupplierWindow> run(final List<Step> first, final List<Step> second) throws Exception {
    return runAll(List.of(first, second));
  }

  private List<SupplierWindow> runAll(final List<List<Step>> scripts) throws Exception {
    start(WINDOWING, 1, null, scripts);
    finish();
    return probe.windows();
  }

  /** Returns the latest result of each window, as a compacted topic retains it. */
  final Map<String, SupplierWindow> latest() {
    final Map<String, SupplierWindow> latest = new HashMap<>();
    probe.windows().forEach(window -> latest.put(new String(WindowRecords.key(window)), window));
    return latest;
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
    job.getJobExecutionResult().get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
  }

  final void checkpoint() throws Exception {
    cluster
        .triggerCheckpoint(job.getJobID(), CheckpointType.FULL)
        .get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
  }

  /** Cancels the job with a savepoint and returns the savepoint's path. */
  final String cancelWithSavepoint(final Path folder) throws Exception {
    final String savepoint =
        job.triggerSavepoint(folder.toUri().toString(), SavepointFormatType.CANONICAL)
            .get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    job.cancel().get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    cluster.requestJobResult(job.getJobID()).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    return savepoint;
  }

  /**
   * Returns the number of orders dropped for a reason, from the metrics of the job's last attempt.
   */
  final long dropped(final Reason reason) {
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
