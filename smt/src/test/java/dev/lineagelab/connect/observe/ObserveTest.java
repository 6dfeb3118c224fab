// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.events.Counts;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.settings.WorkerProperties;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ObserveTest {
  private static final long MS = 1_000_000;

  private final CountBook counts = new CountBook();
  private final Observations observations = new Observations(counts);
  private final String threadName = Thread.currentThread().getName();

  @BeforeEach
  void workForATask() {
    Thread.currentThread().setName("task-thread-orders-0");
  }

  @AfterEach
  void workForNobody() {
    Thread.currentThread().setName(threadName);
  }

  private static Schema struct() {
    return SchemaBuilder.struct().field("id", Schema.INT32_SCHEMA).build();
  }

  @ParameterizedTest
  @CsvSource({
    "'[orders|task-3] ', main, orders, 3",
    "'[a|b [c]|task-12] ', main, a|b [c], 12",
    "'[orders|task-1|offsets] ', main, orders, 1",
    "'[orders|worker] ', task-thread-orders-lake-0, orders-lake, 0",
    "'', task-thread-x-1-2, x-1, 2",
  })
  void knowsTheTask(
      final String context, final String thread, final String connector, final int task) {
    assertThat(TaskName.of(context, thread)).contains(new TaskName(connector, task));
  }

  @Test
  void knowsThatItIsNoTask() {
    assertThat(TaskName.of("[orders|worker] ", "main")).isEmpty();
    assertThat(TaskName.of(null, "main")).isEmpty();
  }

  @Test
  void handsOnWhatIsNewAndOnlyThat() {
    final TaskObserver observer = observations.configured(Map.of());
    final Schema first = struct();
    final Schema second = struct();
    assertThat(observer.notice("topic", null, first, ConnectorType.SINK)).isTrue();
    assertThat(observations.take())
        .extracting(Observations.Taken::connector)
        .containsExactly("orders");
    assertThat(observer.notice("topic", null, first, ConnectorType.SINK)).isTrue();
    assertThat(observations.take()).isEmpty();
    assertThat(observer.notice("topic", null, second, ConnectorType.SINK)).isTrue();
    assertThat(observer.notice("other", null, second, ConnectorType.SINK)).isTrue();
    assertThat(observations.take())
        .extracting(taken -> taken.sight().topic())
        .containsExactly("topic", "other");
    assertThat(observations.type("orders")).contains(ConnectorType.SINK);
  }

  @Test
  void aTombstoneDoesNotHideTheSchemaThatWasSeenBeforeIt() {
    final TaskObserver observer = observations.configured(Map.of());
    final Schema schema = struct();
    observer.notice("topic", Schema.STRING_SCHEMA, schema, ConnectorType.SOURCE);
    observer.notice("topic", Schema.STRING_SCHEMA, null, ConnectorType.SOURCE);
    assertThat(observations.take())
        .extracting(taken -> taken.sight().value())
        .containsExactly(schema);
  }

  @Test
  void recordsWithASchemaEachDoNotFloodIt() {
    final SeenSchemas seen = new SeenSchemas();
    int taken = 0;
    for (int record = 0; record < 1_000_000; record++) {
      // A microsecond between two records: a second in all.
      taken += seen.add("topic", null, struct(), record * MS / 1000) ? 1 : 0;
    }
    assertThat(taken).isBetween(256, 270);
  }

  @Test
  void whatIsPutOffIsNotTakenForSeen() {
    final SeenSchemas seen = new SeenSchemas();
    for (int record = 0; record < 1000; record++) {
      seen.add("topic", null, struct(), 0);
    }
    final Schema last = struct();
    assertThat(seen.add("topic", null, last, MS)).isFalse();
    assertThat(seen.contains("topic", null, last)).isFalse();
    assertThat(seen.add("topic", null, last, 200 * MS)).isTrue();
    assertThat(seen.contains("topic", null, last)).isTrue();
  }

  @Test
  void remembersSchemasByIdentity() {
    final SeenSchemas seen = new SeenSchemas();
    final Schema schema = struct();
    seen.add("topic", null, schema, 0);
    assertThat(seen.contains(new String("topic"), null, schema)).isTrue();
    assertThat(seen.contains("topic", null, struct())).isFalse();
    assertThat(seen.contains("topic", schema, schema)).isFalse();
  }

  @Test
  void knowsTasksOptionsAndWhenTheyEnd() {
    final TaskObserver observer = observations.configured(Map.of("datasets", "x"));
    assertThat(observations.connectors()).containsExactly("orders");
    assertThat(observations.options("orders")).contains(Map.of("datasets", "x"));
    observations.closed(observer);
    assertThat(observations.tasks()).isEmpty();
    assertThat(observations.options("orders")).contains(Map.of("datasets", "x"));
    assertThat(observations.options("bids")).isEqualTo(Optional.empty());
  }

  @Test
  void countsGoOnWhenATaskStartsAgain() {
    final TaskName task = new TaskName("orders", 0);
    counts.see(task, new Counts(10, 8, 0, 0));
    counts.see(task, new Counts(12, 12, 0, 0));
    counts.close(task, new Counts(13, 13, 0, 0));
    // Connect shows the old counts for a moment more.
    counts.see(task, new Counts(13, 13, 0, 0));
    counts.see(task, new Counts(50, 50, 0, 0));
    // Not told of this restart: it shows in counts that fall.
    counts.see(task, new Counts(1, 1, 0, 0));
    counts.see(new TaskName("orders", 1), new Counts(100, 100, 0, 0));
    counts.see(new TaskName("bids", 0), new Counts(1000, 1000, 0, 0));
    assertThat(counts.total("orders")).isEqualTo(new Counts(164, 164, 0, 0));
  }

  @ParameterizedTest
  @CsvSource({
    "http://127.0.0.1:8083, , , 127.0.0.1:8083",
    "'https://[::1]:8443,http://b:2', , , [::1]:8443",
    "http://0.0.0.0:8083, connect, , connect:8083",
    "http://:8083, connect, 18083, connect:18083",
  })
  void knowsHowConnectCallsThisWorker(
      final String listeners, final String host, final String port, final String expected) {
    final Map<String, String> properties = new HashMap<>();
    properties.put("listeners", listeners);
    properties.put("rest.advertised.host.name", host);
    properties.put("rest.advertised.port", port);
    assertThat(WorkerId.of(new WorkerProperties(properties))).isEqualTo(expected);
  }

  @Test
  void findsItselfAmongTheTransforms() {
    final Map<String, String> config =
        Map.of(
            "transforms", "flat, lineage",
            "transforms.flat.type", "org.apache.kafka.connect.transforms.Flatten$Value",
            "transforms.lineage.type", TransformConfig.TRANSFORM,
            "transforms.lineage.datasets", "t -> s3://b|n",
            "transforms.lineage.transport.auth.api.key", "${file:/secrets:key}");
    assertThat(TransformConfig.of(config))
        .contains(
            new TransformConfig(
                "lineage", Map.of("type", TransformConfig.TRANSFORM, "datasets", "t -> s3://b|n")));
    assertThat(TransformConfig.of(Map.of("transforms", "flat"))).isEmpty();
    assertThat(TransformConfig.of(Map.of())).isEmpty();
  }
}
