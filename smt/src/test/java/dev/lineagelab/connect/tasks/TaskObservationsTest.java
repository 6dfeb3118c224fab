// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.tasks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.lineagelab.connect.model.ConnectorType;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TaskObservationsTest {
  private final TaskObservations observations = new TaskObservations(new RecordTotals());
  private final String threadName = Thread.currentThread().getName();

  @BeforeEach
  void nameThreadAsTask() {
    Thread.currentThread().setName("task-thread-orders-0");
  }

  @AfterEach
  void restoreThreadName() {
    Thread.currentThread().setName(threadName);
  }

  private static Schema struct() {
    return SchemaBuilder.struct().field("id", Schema.INT32_SCHEMA).build();
  }

  @Test
  void publishesNewSchemasOnly() {
    final TaskObserver observer = observations.register(Map.of());
    final Schema first = struct();
    final Schema second = struct();
    assertThat(observer.observe("topic", null, first, ConnectorType.SINK)).isTrue();
    assertThat(observations.drain())
        .extracting(TaskObservation::connector, TaskObservation::type)
        .containsExactly(tuple("orders", ConnectorType.SINK));
    assertThat(observer.observe("topic", null, first, ConnectorType.SINK)).isTrue();
    assertThat(observations.drain()).isEmpty();
    assertThat(observer.observe("topic", null, second, ConnectorType.SINK)).isTrue();
    assertThat(observer.observe("other", null, second, ConnectorType.SINK)).isTrue();
    assertThat(observations.drain())
        .extracting(observation -> observation.topic().topic())
        .containsExactly("topic", "other");
    assertThat(observations.type("orders")).contains(ConnectorType.SINK);
  }

  @Test
  void aSchemaThatReturnsCoexistsWithTheOther() {
    final TaskObserver observer = observations.register(Map.of());
    final Schema first = struct();
    final Schema second = SchemaBuilder.struct().field("no", Schema.INT32_SCHEMA).build();
    observer.observe("topic", null, first, ConnectorType.SINK);
    assertThat(observer.hasReplacedSchema("topic")).isFalse();
    observer.observe("topic", null, second, ConnectorType.SINK);
    assertThat(observer.hasReplacedSchema("topic")).isTrue();
    assertThat(observations.drain())
        .extracting(TaskObservation::isAlternating)
        .containsExactly(false, false);
    observer.observe("topic", null, first, ConnectorType.SINK);
    observer.observe("topic", null, second, ConnectorType.SINK);
    observer.observe("topic", null, first, ConnectorType.SINK);
    assertThat(observer.hasReplacedSchema("topic")).isFalse();
    assertThat(observations.drain())
        .extracting(TaskObservation::isAlternating, seen -> seen.topic().valueSchema())
        .containsExactly(tuple(true, first), tuple(true, second));
  }

  @Test
  void keepsTheSchemaOfRecordsBeforeATombstone() {
    final TaskObserver observer = observations.register(Map.of());
    final Schema schema = struct();
    observer.observe("topic", Schema.STRING_SCHEMA, schema, ConnectorType.SOURCE);
    observer.observe("topic", Schema.STRING_SCHEMA, null, ConnectorType.SOURCE);
    assertThat(observations.drain())
        .extracting(observation -> observation.topic().valueSchema())
        .containsExactly(schema);
  }

  @Test
  void onlyTheFirstOfTwoTransformsObservesASink() {
    final TaskObserver first = observations.register(Map.of());
    final TaskObserver second = observations.register(Map.of());
    final Schema read = struct();
    assertThat(first.observe("topic", null, read, ConnectorType.SINK)).isTrue();
    assertThat(second.observe("topic", null, struct(), ConnectorType.SINK)).isFalse();
    assertThat(observations.drain())
        .extracting(observation -> observation.topic().valueSchema())
        .satisfiesExactly(schema -> assertThat(schema).isSameAs(read));
    // A task is replaced: its successor observes after it is closed.
    observations.unregister(first);
    assertThat(second.observe("topic", null, struct(), ConnectorType.SINK)).isTrue();
  }

  @Test
  void onlyTheLastOfTwoTransformsObservesASource() {
    final TaskObserver first = observations.register(Map.of());
    final TaskObserver second = observations.register(Map.of());
    assertThat(first.observe("topic", null, struct(), ConnectorType.SOURCE)).isFalse();
    assertThat(second.observe("topic", null, struct(), ConnectorType.SOURCE)).isTrue();
  }

  @Test
  void aTransformWithoutPredicateIsPreferred() {
    final TaskObserver first = observations.register(Map.of("predicate", "some"));
    final TaskObserver second = observations.register(Map.of());
    assertThat(first.observe("topic", null, struct(), ConnectorType.SINK)).isFalse();
    assertThat(second.observe("topic", null, struct(), ConnectorType.SINK)).isTrue();
  }

  @Test
  void doesNotMergeObservationsOfTwoTransformInstances() {
    final TaskObserver first = observations.register(Map.of());
    first.observe("topic", Schema.STRING_SCHEMA, struct(), ConnectorType.SOURCE);
    observations.unregister(first);
    observations
        .register(Map.of())
        .observe("topic", Schema.STRING_SCHEMA, null, ConnectorType.SOURCE);
    assertThat(observations.drain())
        .extracting(observation -> observation.topic().valueSchema())
        .containsExactly(struct(), null);
  }

  @Test
  void keepsOptionsOfUnregisteredTransforms() {
    final TaskObserver observer = observations.register(Map.of("datasets", "x"));
    assertThat(observations.connectors()).containsExactly("orders");
    assertThat(observations.tasks()).isEqualTo(Map.of("orders", Set.of(0)));
    assertThat(observations.options("orders")).contains(Map.of("datasets", "x"));
    observations.unregister(observer);
    assertThat(observations.connectors()).isEmpty();
    assertThat(observations.tasks()).isEmpty();
    assertThat(observations.options("orders")).contains(Map.of("datasets", "x"));
    assertThat(observations.options("bids")).isEqualTo(Optional.empty());
  }
}
