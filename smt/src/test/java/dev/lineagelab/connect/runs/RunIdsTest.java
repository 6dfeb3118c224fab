// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RunIdsTest {
  private static final long GENERATION = 1_790_000_000_000L;

  @Test
  void isEqualOnAllWorkers() {
    assertThat(RunIds.of("cluster/connect", "orders", GENERATION))
        .isEqualTo(RunIds.of("cluster/connect", "orders", GENERATION))
        .isEqualTo(UUID.fromString("01a0c450-6c00-70e6-9c58-d15b5977f24a"));
  }

  @Test
  void isAUuidOfVersion7() {
    final UUID id = RunIds.of("cluster", "orders", GENERATION);
    assertThat(id.version()).isEqualTo(7);
    assertThat(id.variant()).isEqualTo(2);
    assertThat(id.getMostSignificantBits() >>> 16).isEqualTo(GENERATION);
  }

  @Test
  void dependsOnEveryArgument() {
    final Set<UUID> ids =
        LongStream.range(0, 100)
            .mapToObj(step -> RunIds.of("cluster", "orders", GENERATION + step))
            .collect(Collectors.toSet());
    ids.add(RunIds.of("cluster", "bids", GENERATION));
    ids.add(RunIds.of("other", "orders", GENERATION));
    assertThat(ids).hasSize(102);
  }
}
