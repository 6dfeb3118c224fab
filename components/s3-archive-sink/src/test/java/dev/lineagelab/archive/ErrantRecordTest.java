// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.apache.kafka.connect.errors.ConnectException;
import org.junit.jupiter.api.Test;

/** Records that cannot be archived, and tombstones. */
class ErrantRecordTest extends SinkTaskTestBase {

  ErrantRecordTest(final MinioServer minio) {
    super(minio);
  }

  @Test
  void skipsTombstones() {
    topics.append(ORDERS, clock.millis(), null, null);
    produce(ORDERS, 3);

    final SimulatedWorker worker = start(ORDERS);
    worker.poll(100);

    assertThat(offsets()).containsExactly(1L, 2L, 3L);
    assertThat(reported).isEmpty();
    assertThat(worker.committable()).isEqualTo(Map.of(ORDERS, 4L));
  }

  @Test
  void reportsErrantRecordsAndArchivesTheOthers() {
    topics.append(ORDERS, clock.millis(), null, Map.of("n", new Object()));
    topics.append(ORDERS, null, null, Map.of("n", 1));
    produce(ORDERS, 3);

    final SimulatedWorker worker = start(ORDERS);
    worker.poll(100);

    assertThat(reported)
        .containsExactly(
            "Archiving orders-0 offset 0: cannot write a java.lang.Object as JSON",
            "Archiving orders-0 offset 1: the record has no timestamp: set "
                + "message.timestamp.type=LogAppendTime on its topic");
    assertThat(offsets()).containsExactly(2L, 3L, 4L);
    assertThat(worker.committable()).isEqualTo(Map.of(ORDERS, 5L));
  }

  @Test
  void failsOnAnErrantRecordUnlessErrorsAreTolerated() {
    topics.append(ORDERS, null, null, Map.of("n", 0));
    final SimulatedWorker strict = startWith(null, ORDERS);
    assertThatThrownBy(() -> strict.poll(100))
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("Archiving orders-0 offset 0: the record has no timestamp")
        .hasMessageContaining("To skip such records set errors.tolerance=all");

    options.put("errors.tolerance", "all");
    final SimulatedWorker tolerant = startWith(null, ORDERS);
    tolerant.poll(100);

    assertThat(tolerant.committable()).isEqualTo(Map.of(ORDERS, 1L));
  }
}
