// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.ZoneId;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class RotationPolicyTest {
  private static final ZoneId UTC = ZoneId.of("UTC");
  private static final RecordFormat JSON =
      new JsonFormat(new JsonValues(false, false), new Envelope(false, false), false);

  @Test
  void theScheduleCountsFromMidnightOfItsZone() {
    assertThat(deadline(600_000, UTC, "2026-11-21T12:03:00Z")).isEqualTo("2026-11-21T12:10:00Z");
    assertThat(deadline(600_000, UTC, "2026-11-21T12:10:00Z")).isEqualTo("2026-11-21T12:20:00Z");
    assertThat(deadline(86_400_000, ZoneId.of("Europe/Vienna"), "2026-11-21T12:00:00Z"))
        .isEqualTo("2026-11-21T23:00:00Z");
  }

  @Test
  void withoutScheduleAChunkWaitsForRecords() {
    assertThat(new RotationPolicy(1, -1, -1, UTC).deadline(0)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void theIntervalIsBetweenTimestampsOfRecords() {
    final RotationPolicy policy = new RotationPolicy(1, 1000, -1, UTC);

    assertThat(policy.isTooLate(5000, 5999)).isFalse();
    assertThat(policy.isTooLate(5000, 6000)).isTrue();
    assertThat(policy.isTooLate(5000, 1)).isFalse();
    assertThat(new RotationPolicy(1, -1, -1, UTC).isTooLate(0, Long.MAX_VALUE)).isFalse();
  }

  @Test
  void theLargestObjectCounts() {
    final RotationPolicy policy = new RotationPolicy(2, -1, -1, UTC);
    final OpenChunk chunk = chunk();
    add(chunk, 0, "a");
    add(chunk, 1, "b");
    assertThat(policy.isComplete(chunk)).isFalse();

    add(chunk, 2, "a");

    assertThat(policy.isComplete(chunk)).isTrue();
  }

  @Test
  void oneChunkMakesABoundedNumberOfObjects() {
    final RotationPolicy policy = new RotationPolicy(1_000_000, -1, -1, UTC);
    final OpenChunk chunk = chunk();
    for (int i = 0; i < OpenChunk.MAX_OBJECTS - 1; i++) {
      add(chunk, i, "folder" + i);
    }
    assertThat(policy.isComplete(chunk)).isFalse();

    add(chunk, 1000, "another");

    assertThat(policy.isComplete(chunk)).isTrue();
  }

  @Test
  void alternatingObjectsMakeALogEntryOfBoundedSize() {
    final RotationPolicy policy = new RotationPolicy(1_000_000, -1, -1, UTC);
    final OpenChunk chunk = chunk();
    for (int i = 0; i < OpenChunk.MAX_RANGES; i++) {
      assertThat(policy.isComplete(chunk)).isFalse();
      add(chunk, i, i % 2 == 0 ? "even" : "odd");
    }

    assertThat(policy.isComplete(chunk)).isTrue();
  }

  private static OpenChunk chunk() {
    return new OpenChunk(new TopicPartition("orders", 0), 0, 0);
  }

  private static void add(final OpenChunk chunk, final long offset, final String path) {
    chunk.add(offset, path, JSON.layoutOf(null), 0, new byte[1]);
  }

  private static String deadline(final long schedule, final ZoneId zone, final String opened) {
    final long deadline =
        new RotationPolicy(1, -1, schedule, zone).deadline(Instant.parse(opened).toEpochMilli());
    return Instant.ofEpochMilli(deadline).toString();
  }
}
