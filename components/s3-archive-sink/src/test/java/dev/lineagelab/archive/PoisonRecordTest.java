// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.errors.ConnectException;
import org.junit.jupiter.api.Test;

/** Records that cannot be archived, or need not be. */
class PoisonRecordTest extends TaskTestCase {

  PoisonRecordTest(final MinioServer minio) {
    super(minio);
  }

  @Test
  void tombstonesAreLeftOutReportedOrWritten() {
    topics.append(ORDERS, clock.millis(), null, null);
    produce(ORDERS, 3);

    final SimulatedWorker ignoring = start(ORDERS);
    ignoring.poll(100);
    assertThat(offsets()).containsExactly(1L, 2L, 3L);

    useFolder("failing");
    options.put(Options.BEHAVIOR_ON_NULL_VALUES, "fail");
    start(ORDERS).poll(100);
    assertThat(reported)
        .containsExactly(
            "Archiving orders-0 offset 0: its value is null, and behavior.on.null.values is fail");

    useFolder("writing");
    options.put(Options.BEHAVIOR_ON_NULL_VALUES, "write");
    options.put(Options.STORE_KEYS, "true");
    start(ORDERS).poll(100);
    assertThat(text(data().get(0))).startsWith("{\"key\":\"0\",\"value\":null}\n{\"key\":\"1\"");
  }

  @Test
  void recordsThatCannotBeArchivedAreReportedAndTheOthersArchived() {
    options.put(Options.FORMAT_CLASS, "AvroFormat");
    produce(ORDERS, 1);
    for (long offset = 1; offset < 4; offset++) {
      topics.append(ORDERS, clock.millis(), Schema.INT64_SCHEMA, offset);
    }

    final SimulatedWorker worker = start(ORDERS);
    worker.poll(100);

    assertThat(reported)
        .hasSize(1)
        .first()
        .asString()
        .contains("offset 0: its value has no schema");
    assertThat(data()).hasSize(1).first().asString().endsWith("0000000001-0000000003.avro");
    assertThat(worker.committable()).isEqualTo(Map.of(ORDERS, 4L));
  }

  @Test
  void withoutToleranceSuchARecordFailsTheTask() {
    options.put(Options.FORMAT_CLASS, "AvroFormat");
    produce(ORDERS, 1);
    final SimulatedWorker strict = startWith(null, ORDERS);
    assertThatThrownBy(() -> strict.poll(100))
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("Archiving orders-0 offset 0: its value has no schema")
        .hasMessageContaining("set errors.tolerance=all");

    options.put("errors.tolerance", "all");
    final SimulatedWorker tolerant = startWith(null, ORDERS);
    tolerant.poll(100);

    assertThat(tolerant.committable()).isEqualTo(Map.of(ORDERS, 1L));
  }
}
