// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

class RotationPolicyTest {
  private static final long HOUR_MS = 3_600_000;

  @Test
  void deadlineIsTheNextMultipleOfTheSchedule() {
    assertThat(deadline(600_000, "2026-11-21T12:03:00Z")).isEqualTo("2026-11-21T12:10:00Z");
    assertThat(deadline(600_000, "2026-11-21T12:10:00Z")).isEqualTo("2026-11-21T12:20:00Z");
    assertThat(deadline(24 * HOUR_MS, "2026-11-21T12:00:00Z")).isEqualTo("2026-11-22T00:00:00Z");
  }

  @Test
  void noScheduleMeansNoDeadline() {
    assertThat(new RotationPolicy(1, -1).deadline(0)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void flushSizeAppliesToTheLargestObject() {
    final RotationPolicy policy = new RotationPolicy(2, -1);
    final OpenChunk chunk = chunk();
    add(chunk, 0, 0);
    add(chunk, 1, 1);
    assertThat(policy.isComplete(chunk)).isFalse();

    add(chunk, 2, 0);

    assertThat(policy.isComplete(chunk)).isTrue();
  }

  @Test
  void chunkHasABoundedNumberOfObjects() {
    final RotationPolicy policy = new RotationPolicy(1_000_000, -1);
    final OpenChunk chunk = chunk();
    for (int i = 0; i < OpenChunk.MAX_OBJECTS - 1; i++) {
      add(chunk, i, i);
    }
    assertThat(policy.isComplete(chunk)).isFalse();

    add(chunk, 1000, OpenChunk.MAX_OBJECTS);

    assertThat(policy.isComplete(chunk)).isTrue();
  }

  @Test
  void chunkHasABoundedNumberOfOffsetRanges() {
    final RotationPolicy policy = new RotationPolicy(1_000_000, -1);
    final OpenChunk chunk = chunk();
    for (int i = 0; i < OpenChunk.MAX_RANGES; i++) {
      assertThat(policy.isComplete(chunk)).isFalse();
      add(chunk, i, i % 2);
    }

    assertThat(policy.isComplete(chunk)).isTrue();
  }

  private static OpenChunk chunk() {
    return new OpenChunk(new TopicPartition("orders", 0), 0, 0);
  }

  private static void add(final OpenChunk chunk, final long offset, final long hour) {
    chunk.add(offset, hour * HOUR_MS, new byte[1]);
  }

  private static String deadline(final long schedule, final String opened) {
    final long deadline =
        new RotationPolicy(1, schedule).deadline(Instant.parse(opened).toEpochMilli());
    return Instant.ofEpochMilli(deadline).toString();
  }
}
