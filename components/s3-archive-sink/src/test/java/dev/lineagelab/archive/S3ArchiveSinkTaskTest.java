// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.errors.ConnectException;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.sync.RequestBody;

/** Objects that a task writes, and the position from which it resumes. */
class S3ArchiveSinkTaskTest extends SinkTaskTestBase {
  private static final String AT_NOON = "year=2026/month=11/day=21/hour=12/";
  private static final String AN_HOUR_BEFORE = "year=2026/month=11/day=21/hour=11/";

  S3ArchiveSinkTaskTest(final MinioServer minio) {
    super(minio);
  }

  @Test
  void writesObjectsOfFlushSizeRecords() {
    produce(ORDERS, 7);
    produce(PAYMENTS, 3);

    final SimulatedWorker worker = start(ORDERS, PAYMENTS);
    worker.poll(100);

    assertThat(data())
        .containsExactly(
            "topics/orders/" + AT_NOON + "orders+0+0000000000-0000000002.json",
            "topics/orders/" + AT_NOON + "orders+0+0000000003-0000000005.json",
            "topics/payments/" + AT_NOON + "payments+1+0000000000-0000000002.json");
    assertThat(text(data().get(1))).isEqualTo("{\"n\":3}\n{\"n\":4}\n{\"n\":5}\n");
    assertThat(worker.committable()).isEqualTo(Map.of(ORDERS, 6L, PAYMENTS, 3L));
  }

  @Test
  void writesBufferedRecordsOnSchedule() {
    produce(ORDERS, 2);
    final SimulatedWorker worker = start(ORDERS);
    worker.poll(100);
    assertThat(data()).isEmpty();
    assertThat(worker.timeout()).isEqualTo(60_000);

    clock.advance(Duration.ofMinutes(1));
    worker.poll(100);

    assertThat(offsets()).containsExactly(0L, 1L);
    assertThat(worker.committable()).isEqualTo(Map.of(ORDERS, 2L));
  }

  @Test
  void writesLateRecordsToTheFolderOfTheirHour() {
    produce(ORDERS, 1);
    topics.append(ORDERS, clock.millis() - 3_600_000, null, Map.of("n", 1));
    produce(ORDERS, 2);

    start(ORDERS).poll(100);

    assertThat(data())
        .containsExactly(
            "topics/orders/" + AN_HOUR_BEFORE + "orders+0+0000000001-0000000001.json",
            "topics/orders/" + AT_NOON + "orders+0+0000000000-0000000003.json");
    assertThat(text("topics/orders/_log/0/9223372036854775807-from-0.json"))
        .contains("\"start\":0,\"end\":3")
        .contains("\"offsets\":[[0,0],[2,3]]")
        .contains("\"offsets\":[[1,1]]");
  }

  @Test
  void boundsMemoryRegardlessOfFlushSize() {
    options.put(ArchiveConfig.FLUSH_SIZE, "1000000");
    options.put(ArchiveConfig.BUFFER_BYTES, "1048576");
    final String large = "x".repeat(100_000);
    for (int i = 0; i < 25; i++) {
      topics.append(ORDERS, clock.millis(), null, Map.of("n", i, "text", large));
    }

    final SimulatedWorker worker = start(ORDERS);
    worker.poll(100);

    assertThat(data()).isNotEmpty();
    assertThat(data()).allSatisfy(key -> assertThat(text(key).length()).isLessThan(1_200_000));
    assertThat(worker.committable().get(ORDERS)).isGreaterThan(10);
  }

  @Test
  void resumesWhereTheArchiveEndsWithoutCommittedOffsets() {
    produce(ORDERS, 5);
    start(ORDERS).poll(100);

    final SimulatedWorker successor = start(ORDERS);
    produce(ORDERS, 1);
    successor.poll(100);

    assertThat(offsets()).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
    assertThat(data()).hasSize(2);
  }

  @Test
  void rebuildsMissingObjectsAsPlannedAfterAnOptionChanged() {
    produce(ORDERS, 2);
    topics.append(ORDERS, clock.millis() - 3_600_000, null, Map.of("n", 2));
    produce(ORDERS, 1);
    start(ORDERS).poll(100);
    final Map<String, String> before = contents();
    before.keySet().forEach(key -> minio.client().deleteObject(r -> r.bucket(bucket).key(key)));

    options.put(ArchiveConfig.FLUSH_SIZE, "1");
    start(ORDERS).poll(100);

    assertThat(contents()).isEqualTo(before);
  }

  @Test
  void skipsMissingObjectsWhoseRecordsKafkaHasDeleted() {
    produce(ORDERS, 3);
    start(ORDERS).poll(100);
    data().forEach(key -> minio.client().deleteObject(r -> r.bucket(bucket).key(key)));
    final SimulatedTopics later = new SimulatedTopics();
    later.create(ORDERS);
    later.skip(ORDERS, 3);
    for (int i = 3; i < 6; i++) {
      later.append(ORDERS, clock.millis(), null, Map.of("n", i));
    }

    final SimulatedWorker worker = track(SimulatedWorker.of(options, later, clock, null)).start();
    worker.assign(List.of(ORDERS));
    worker.poll(100);

    assertThat(offsets()).containsExactly(3L, 4L, 5L);
    assertThat(worker.committable()).isEqualTo(Map.of(ORDERS, 6L));
  }

  @Test
  void rejectsATopicThatWasCreatedAgain() {
    produce(ORDERS, 6);
    start(ORDERS).poll(100);
    final SimulatedTopics recreated = new SimulatedTopics();
    recreated.create(ORDERS);
    recreated.append(ORDERS, clock.millis(), null, Map.of("n", 0));

    final SimulatedWorker worker =
        track(SimulatedWorker.of(options, recreated, clock, null)).start();
    worker.assign(List.of(ORDERS));

    assertThatThrownBy(() -> worker.poll(100))
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("Kafka delivers offset 0")
        .hasMessageContaining("contains all offsets below 6")
        .hasMessageContaining("Set topics.dir to another folder");
  }

  @Test
  void fencesAZombieThatStillHoldsThePartition() {
    final SimulatedWorker zombie = start(ORDERS);
    produce(ORDERS, 2);
    zombie.poll(100);
    produce(ORDERS, 1);
    start(ORDERS).poll(100);
    final Map<String, String> before = contents();
    assertThat(before).hasSize(1);

    zombie.poll(100);
    produce(ORDERS, 3);
    zombie.poll(100);

    assertThat(contents()).containsAllEntriesOf(before);
    assertThat(offsets()).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
    assertThat(zombie.committable()).isEqualTo(Map.of(ORDERS, 6L));
  }

  @Test
  void rejectsAMissingObjectOfAnUnknownFormat() {
    final LogEntry entry =
        LogEntry.of(
            ORDERS,
            0,
            2,
            List.of(new LogEntry.PlannedObject("topics/o.avro", List.of(new OffsetRange(0, 2)))));
    minio
        .client()
        .putObject(
            r -> r.bucket(bucket).key(new ObjectKeys("topics").logEntry(entry)),
            RequestBody.fromBytes(entry.toJson()));

    assertThatThrownBy(() -> start(ORDERS))
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("Rebuilding topics/o.avro of the newest log entry: unknown format");
  }
}
