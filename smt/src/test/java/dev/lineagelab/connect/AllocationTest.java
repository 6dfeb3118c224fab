// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.sink.SinkRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AllocationTest {
  private static final int RECORDS = 100_000;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final String threadName = Thread.currentThread().getName();

  @BeforeEach
  void nameThreadAsTask() {
    Thread.currentThread().setName("task-thread-orders-0");
  }

  @AfterEach
  void restoreThreadName() {
    Thread.currentThread().setName(threadName);
  }

  /** 16 topics exceed the cache of the transform, so that the task's observer is called as well. */
  @ParameterizedTest
  @ValueSource(ints = {1, 4, 16})
  void recordsWithKnownSchemasAllocateNothing(final int topics) {
    final List<SinkRecord> records =
        IntStream.range(0, topics).mapToObj(AllocationTest::record).toList();
    try (OpenLineageTransform<SinkRecord> transform = new OpenLineageTransform<>()) {
      transform.configure(Map.of("transport.type", "none"));
      allocated(transform, records);
      assertThat(allocated(transform, records)).isZero();
    }
  }

  private static SinkRecord record(final int topic) {
    final Schema value = SchemaBuilder.struct().field("id", Schema.INT32_SCHEMA).build();
    return new SinkRecord("orders-" + topic, 0, Schema.STRING_SCHEMA, "key", value, null, 0);
  }

  private long allocated(
      final OpenLineageTransform<SinkRecord> transform, final List<SinkRecord> records) {
    final long before = threads.getCurrentThreadAllocatedBytes();
    for (int number = 0; number < RECORDS; number++) {
      transform.apply(records.get(number % records.size()));
    }
    return threads.getCurrentThreadAllocatedBytes() - before;
  }
}
