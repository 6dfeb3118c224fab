// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.observe;

import dev.lineagelab.connect.events.Counts;
import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import javax.management.AttributeNotFoundException;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.kafka.common.utils.Sanitizer;

/** What Connect shows in JMX of the connectors and tasks that this worker runs. */
public final class ConnectMetrics {
  private static final String DOMAIN = "kafka.connect:type=";

  private ConnectMetrics() {}

  /** Whether this worker has the connector itself; its tasks may be anywhere. */
  public static boolean hasConnector(final String connector) {
    return server().isRegistered(name("connector-metrics", connector, ""));
  }

  /** Class of a connector that is on this worker. */
  public static Optional<String> connectorClass(final String connector) {
    return text(name("connector-metrics", connector, ""), "connector-class");
  }

  /** State of a connector that is on this worker, in capitals as in the REST API. */
  public static Optional<String> connectorState(final String connector) {
    return text(name("connector-metrics", connector, ""), "status").map(ConnectMetrics::upper);
  }

  /** State of a task that is on this worker, in capitals as in the REST API. */
  public static Optional<String> taskState(final String connector, final int task) {
    return text(name("connector-task-metrics", connector, ",task=" + task), "status")
        .map(ConnectMetrics::upper);
  }

  /** Whether a task that is on this worker is one of a sink. */
  public static boolean isSinkTask(final String connector, final int task) {
    return server().isRegistered(name("sink-task-metrics", connector, ",task=" + task));
  }

  /** Counts of all tasks of a connector that are on this worker. */
  public static Map<Integer, Counts> counts(final String connector) {
    final Map<Integer, Counts> found = new TreeMap<>();
    for (final ObjectName task :
        server().queryNames(name("connector-task-metrics", connector, ",task=*"), null)) {
      final int number = Integer.parseInt(task.getKeyProperty("task"));
      counts(connector, number).ifPresent(counts -> found.put(number, counts));
    }
    return found;
  }

  /** Counts of a task since it started; empty if it is not on this worker. */
  public static Optional<Counts> counts(final String connector, final int task) {
    final String suffix = ",task=" + task;
    final ObjectName sink = name("sink-task-metrics", connector, suffix);
    final ObjectName source = name("source-task-metrics", connector, suffix);
    final ObjectName errors = name("task-error-metrics", connector, suffix);
    final boolean isSink = server().isRegistered(sink);
    if (!isSink && !server().isRegistered(source)) {
      return Optional.empty();
    }
    return Optional.of(
        new Counts(
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
      // The task has gone, or Connect is only about to register its metrics.
      return Optional.empty();
    } catch (final JMException e) {
      throw new IllegalStateException("Cannot read " + attribute + " of " + bean, e);
    }
  }

  private static ObjectName name(final String type, final String connector, final String suffix) {
    try {
      return new ObjectName(
          DOMAIN + type + ",connector=" + Sanitizer.jmxSanitize(connector) + suffix);
    } catch (final JMException e) {
      throw new IllegalStateException("Connect could not name its metrics so either", e);
    }
  }

  private static String upper(final String state) {
    return state.toUpperCase(Locale.ROOT);
  }

  private static MBeanServer server() {
    return ManagementFactory.getPlatformMBeanServer();
  }
}
