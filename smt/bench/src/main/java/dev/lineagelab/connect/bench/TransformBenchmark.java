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
 * One record through the transform, against one through a transform that does nothing.
 *
 * <p>JMH's own score is by the clock, which a busy machine stretches. {@link Used} is told beside
 * it: what the thread itself has taken.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class TransformBenchmark {

  /** What the records are like: how many topics take turns. */
  public enum Traffic {
    ONE_TOPIC(1),
    FOUR_TOPICS(4);

    private final int topics;

    Traffic(final int topics) {
      this.topics = topics;
    }
  }

  /** Where events go: nowhere, or to a service that takes connections and never answers. */
  public enum Service {
    NONE,
    HANGING
  }

  @Param({"ONE_TOPIC", "FOUR_TOPICS"})
  public Traffic traffic;

  @Param({"NONE", "HANGING"})
  public Service service;

  private final Transformation<SinkRecord> nothing = new Nothing();
  private OpenLineageTransform<SinkRecord> lineage;
  private HangingService hanging;
  private RunningTask task;
  private SinkRecord[] records;

  /** What the thread that brings the records has used in an iteration. */
  @State(Scope.Thread)
  @AuxCounters(AuxCounters.Type.EVENTS)
  public static class Used {
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

    /** JMH reads a method when the iteration is over; a field it sets to zero when it begins. */
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

  /** As a worker does it: the thread is called as the task is. */
  @Setup
  public void start() throws IOException {
    hanging = new HangingService();
    task = new RunningTask();
    records = Records.orders(traffic.topics);
    Thread.currentThread().setName("task-thread-" + RunningTask.CONNECTOR + "-" + RunningTask.TASK);
    lineage = new OpenLineageTransform<>();
    lineage.configure(service == Service.HANGING ? sending() : Map.of("transport.type", "none"));
  }

  /** Events are due from the first moment on. */
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
    if (isMeasured && service == Service.HANGING && !hanging.isAsked()) {
      throw new IllegalStateException("No event was sent: a service that nobody asks cannot hang");
    }
    hanging.close();
    task.close();
  }

  private SinkRecord next(final Used used) {
    return records[(int) used.next++ & Records.COUNT - 1];
  }

  @Benchmark
  public Object nothing(final Used used) {
    return nothing.apply(next(used));
  }

  @Benchmark
  public Object lineage(final Used used) {
    return lineage.apply(next(used));
  }

  private static final class Nothing implements Transformation<SinkRecord> {
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
      // It has no options.
    }

    @Override
    public void close() {
      // Nothing is held.
    }
  }
}
