// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.bench;

import dev.lineagelab.connect.OpenLineageTransform;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.transforms.Transformation;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** One record through the transform, against one through a transform that does nothing. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(2)
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
  private SinkRecord[] records;
  private int next;

  /** As a worker does it: the thread is called as the task is. */
  @Setup
  public void start() throws IOException {
    hanging = new HangingService();
    records = Records.orders(traffic.topics);
    Thread.currentThread().setName("task-thread-bench-0");
    lineage = new OpenLineageTransform<>();
    final Map<String, String> sending =
        Map.of("transport.type", "http", "transport.url", hanging.url(), "interval.ms", "1000");
    lineage.configure(service == Service.HANGING ? sending : Map.of("transport.type", "none"));
  }

  @TearDown
  public void stop() throws IOException {
    lineage.close();
    hanging.close();
  }

  private SinkRecord next() {
    return records[next++ & Records.COUNT - 1];
  }

  @Benchmark
  public Object nothing() {
    return nothing.apply(next());
  }

  @Benchmark
  public Object lineage() {
    return lineage.apply(next());
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
