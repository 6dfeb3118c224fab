// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.tasks.RecordTotals;
import dev.lineagelab.connect.tasks.TaskObservation;
import dev.lineagelab.connect.tasks.TaskObservations;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.sink.SinkRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Observations that the agent receives of the records of a transform. */
class ObservedRecordsTest {
  private final String threadName = Thread.currentThread().getName();
  private final TaskObservations observations = new TaskObservations(new RecordTotals());
  private final OpenLineageTransform<SinkRecord> transform = new OpenLineageTransform<>();

  @BeforeEach
  void startTransformOfATask() {
    Thread.currentThread().setName("task-thread-orders-0");
    transform.start(observations.register(Map.of()));
  }

  @AfterEach
  void restoreThreadName() {
    Thread.currentThread().setName(threadName);
  }

  private static Schema struct(final String field) {
    return SchemaBuilder.struct().field(field, Schema.INT32_SCHEMA).build();
  }

  private void apply(final String topic, final Schema value) {
    transform.apply(new SinkRecord(topic, 0, null, null, value, null, 0));
  }

  @Test
  void returnOfASchemaIsObserved() {
    final Schema first = struct("a");
    final Schema second = struct("b");
    for (final Schema schema : List.of(first, first, second, second)) {
      apply("events", schema);
    }
    assertThat(observations.drain()).extracting(TaskObservation::isAlternating).containsOnly(false);
    apply("events", first);
    assertThat(observations.drain())
        .singleElement()
        .satisfies(seen -> assertThat(seen.isAlternating()).isTrue())
        .satisfies(seen -> assertThat(seen.topic().valueSchema()).isSameAs(first));
  }

  @ParameterizedTest
  @ValueSource(ints = {5, 65, 1000})
  void allTopicsOfATaskAreObservedOnce(final int topics) {
    final List<Schema> schemas =
        IntStream.range(0, topics).mapToObj(topic -> struct("field_" + topic)).toList();
    for (int round = 0; round < 3; round++) {
      for (int topic = 0; topic < topics; topic++) {
        apply(String.valueOf("table_" + topic), schemas.get(topic));
      }
      assertThat(observations.drain()).hasSize(round == 0 ? topics : 0);
    }
  }
}
