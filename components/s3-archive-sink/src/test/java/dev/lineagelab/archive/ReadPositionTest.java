// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReadPositionTest {
  private final ReadPosition position = new ReadPosition();

  @Test
  void isKnownOnceThePartitionIsAssigned() {
    assertThat(position.isKnown()).isFalse();

    position.assigned();

    assertThat(position.isKnown()).isTrue();
  }

  @Test
  void afterASeekABatchFromThereMustBeTakenWhole() {
    position.assigned();
    position.sought();
    // The batch that was fetched before the seek, handed over again.
    position.taken();
    assertThat(position.isKnown()).isFalse();

    position.handled();
    assertThat(position.isKnown()).isFalse();

    position.taken();
    assertThat(position.isKnown()).isTrue();
  }

  @Test
  void whatWasHandledBeforeASeekDoesNotCount() {
    position.handled();
    position.sought();
    position.taken();

    assertThat(position.isKnown()).isFalse();
  }
}
