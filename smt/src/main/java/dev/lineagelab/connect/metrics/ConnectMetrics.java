// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.metrics;

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import javax.management.AttributeNotFoundException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.kafka.common.utils.Sanitizer;

/** JMX metrics that Connect publishes for the connectors and tasks on this worker. */
public final class ConnectMetrics {
  private static final String DOMAIN = "kafka.connect:type=";

  private static final ObjectName ALL_TASKS = objectName(DOMAIN + "connector-task-metrics,*");

  private ConnectMetrics() {}

  /** Return whether Connect publishes its metrics in JMX; {@code metric.reporters} may lack it. */
  public static boolean isPublished() {
    return Arrays.asList(server().getDomains()).contains("kafka.connect");
  }

  /** Return whether this worker runs the connector itself; its tasks may run anywhere. */
  public static boolean hasConnector(final String connector) {
    return server().isRegistered(name("connector-metrics", connector, ""));
  }

  /** Class of a connector; empty if it is not on this worker. */
  public static Optional<String> connectorClass(final String connector) {
    return text(name("connector-metrics", connector, ""), "connector-class");
  }

  /** State of a task as in the REST API; empty if it is not on this worker. */
  public static Optional<String> taskState(final String connector, final int task) {
    return text(name("connector-task-metrics", connector, ",task=" + task), "status")
        .map(ConnectMetrics::upper);
  }

  /** Return whether this worker runs the task and it is a sink's. */
  public static boolean isSinkTask(final String connector, final int task) {
    return server().isRegistered(name("sink-task-metrics", connector, ",task=" + task));
  }

  /** Tasks on this worker, of all connectors: a query takes time for each metric of the process. */
  public static WorkerTasks tasks() {
    final Map<String, Set<Integer>> found = new HashMap<>();
    for (final ObjectName task : server().queryNames(ALL_TASKS, null)) {
      found
          .computeIfAbsent(task.getKeyProperty("connector"), connector -> new TreeSet<>())
          .add(Integer.parseInt(task.getKeyProperty("task")));
    }
    return new WorkerTasks(found);
  }

  /** Counts of a task since its start; empty if it is not on this worker. */
  public static Optional<RecordCounts> counts(final String connector, final int task) {
    final String suffix = ",task=" + task;
    final ObjectName sink = name("sink-task-metrics", connector, suffix);
    final ObjectName source = name("source-task-metrics", connector, suffix);
    final ObjectName errors = name("task-error-metrics", connector, suffix);
    final boolean isSink = server().isRegistered(sink);
    if (!isSink && !server().isRegistered(source)) {
      return Optional.empty();
    }
    return Optional.of(
        new RecordCounts(
            isSink
                ? number(sink, "sink-record-read-total")
                : number(source, "source-record-poll-total"),
            isSink
                ? number(sink, "sink-record-send-total")
                : number(source, "source-record-write-total"),
            number(errors, "total-record-failures"),
            number(errors, "total-records-skipped")));
  }

  private static long number(final ObjectName bean, final String attribute) {
    return value(bean, attribute)
        .filter(Number.class::isInstance)
        .map(value -> ((Number) value).doubleValue())
        .filter(value -> !value.isNaN())
        .map(Double::longValue)
        .orElse(0L);
  }

  private static Optional<String> text(final ObjectName bean, final String attribute) {
    return value(bean, attribute).map(Object::toString);
  }

  private static Optional<Object> value(final ObjectName bean, final String attribute) {
    try {
      return Optional.ofNullable(server().getAttribute(bean, attribute));
    } catch (final InstanceNotFoundException | AttributeNotFoundException e) {
      // The task has ended, or Connect has not registered its metrics yet.
      return Optional.empty();
    } catch (final JMException e) {
      throw new IllegalStateException("cannot read attribute " + attribute + " of " + bean, e);
    }
  }

  private static ObjectName name(final String type, final String connector, final String suffix) {
    return objectName(DOMAIN + type + ",connector=" + sanitized(connector) + suffix);
  }

  /** A connector's name as Connect writes it in JMX. */
  static String sanitized(final String connector) {
    return Sanitizer.jmxSanitize(connector);
  }

  private static ObjectName objectName(final String text) {
    try {
      return new ObjectName(text);
    } catch (final JMException e) {
      throw new IllegalStateException("invalid JMX name " + text, e);
    }
  }

  private static String upper(final String state) {
    return state.toUpperCase(Locale.ROOT);
  }

  private static MBeanServer server() {
    return ManagementFactory.getPlatformMBeanServer();
  }
}
