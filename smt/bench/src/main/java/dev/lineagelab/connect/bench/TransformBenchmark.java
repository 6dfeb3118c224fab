// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.bench;

import com.sun.management.ThreadMXBean;
import dev.lineagelab.connect.OpenLineageTransform;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.transforms.Transformation;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * Cost of the transform per record, compared with a no-op transform.
 *
 * <p>JMH's own score is wall-clock time, which depends on the load of the machine; {@link
 * ThreadUsage} adds CPU time and allocations of the thread.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class TransformBenchmark {

  /** Topics that the records cycle through, each with its own schema. */
  public enum Traffic {
    ONE_TOPIC(1, false),
    FIVE_TOPICS(5, false),
    SIXTY_FIVE_TOPICS(65, false),
    THOUSAND_TOPICS(1000, false),
    /** One topic, whose name is another object in each record. */
    NEW_TOPIC_NAMES(1, true);

    private final int topics;
    private final boolean hasNewNames;

    Traffic(final int topics, final boolean hasNewNames) {
      this.topics = topics;
      this.hasNewNames = hasNewNames;
    }
  }

  /** Destination of events: none, or a service that accepts connections and never responds. */
  public enum Service {
    NONE,
    HANGING
  }

  @Param public Traffic traffic;

  @Param({"NONE", "HANGING"})
  public Service service;

  private final Transformation<SinkRecord> nothing = new NoOp();
  private OpenLineageTransform<SinkRecord> lineage;
  private HangingService hanging;
  private RunningTask task;
  private SinkRecord[] records;

  /** CPU time, allocations and records of the benchmark's thread in one iteration. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.EVENTS)
  public static class ThreadUsage {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private long next;
    private long nextBefore;
    private long cpuBefore;
    private long allocatedBefore;

    @Setup(Level.Iteration)
    public void start() {
      nextBefore = next;
      allocatedBefore = THREADS.getCurrentThreadAllocatedBytes();
      cpuBefore = THREADS.getCurrentThreadCpuTime();
    }

    /** A method, as JMH reads methods after an iteration but resets fields before it. */
    public long cpuNanos() {
      return THREADS.getCurrentThreadCpuTime() - cpuBefore;
    }

    public long allocatedBytes() {
      return THREADS.getCurrentThreadAllocatedBytes() - allocatedBefore;
    }

    public long records() {
      return next - nextBefore;
    }
  }

  /** Set up a task as a worker does, including the name of its thread. */
  @Setup
  public void start() throws IOException {
    hanging = new HangingService();
    task = new RunningTask();
    records = Records.orders(traffic.topics, traffic.hasNewNames);
    Thread.currentThread().setName("task-thread-" + RunningTask.CONNECTOR + "-" + RunningTask.TASK);
    lineage = new OpenLineageTransform<>();
    lineage.configure(service == Service.HANGING ? sending() : Map.of("transport.type", "none"));
  }

  /** Options with which events are due from the start. */
  private Map<String, String> sending() {
    return Map.of(
        "transport.type", "http",
        "transport.url", hanging.url(),
        "transform.only.after.ms", "0",
        "interval.ms", "1000");
  }

  @TearDown
  public void stop(final BenchmarkParams run) throws IOException {
    lineage.close();
    final boolean isMeasured = run.getBenchmark().endsWith(".lineage");
    if (isMeasured && service == Service.HANGING && !hanging.hasConnection()) {
      throw new IllegalStateException("no event was sent, so the hanging service was not measured");
    }
    hanging.close();
    task.close();
  }

  private SinkRecord next(final ThreadUsage usage) {
    return records[(int) usage.next++ & Records.COUNT - 1];
  }

  @Benchmark
  public Object nothing(final ThreadUsage usage) {
    return nothing.apply(next(usage));
  }

  @Benchmark
  public Object lineage(final ThreadUsage usage) {
    return lineage.apply(next(usage));
  }

  private static final class NoOp implements Transformation<SinkRecord> {
    @Override
    public SinkRecord apply(final SinkRecord record) {
      return record;
    }

    @Override
    public ConfigDef config() {
      return new ConfigDef();
    }

    @Override
    public void configure(final Map<String, ?> given) {
      // There are no options.
    }

    @Override
    public void close() {
      // There is nothing to close.
    }
  }
}
