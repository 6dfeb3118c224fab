// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.bench;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.Gauge;
import org.apache.kafka.common.metrics.JmxReporter;
import org.apache.kafka.common.metrics.KafkaMetricsContext;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;

/** JMX metric of a running task, without which the plugin does not consider the task running. */
final class RunningTask implements AutoCloseable {
  static final String CONNECTOR = "bench";
  static final int TASK = 0;

  private final Metrics metrics =
      new Metrics(
          new MetricConfig(),
          List.of(new JmxReporter()),
          Time.SYSTEM,
          new KafkaMetricsContext("kafka.connect"));

  RunningTask() {
    final Map<String, String> tags = new LinkedHashMap<>();
    tags.put("connector", CONNECTOR);
    tags.put("task", Integer.toString(TASK));
    final Gauge<String> state = (config, now) -> "running";
    metrics.addMetric(new MetricName("status", "connector-task-metrics", "", tags), state);
  }

  @Override
  public void close() {
    metrics.close();
  }
}
