// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ConsumerPositionTest {
  private final ConsumerPosition position = new ConsumerPosition();

  @Test
  void isValidOnceThePartitionIsAssigned() {
    assertThat(position.isValid()).isFalse();

    position.onAssigned();

    assertThat(position.isValid()).isTrue();
  }

  @Test
  void isValidAgainAfterOneBatchFromTheSoughtPosition() {
    position.onAssigned();
    position.onSeek();
    // The batch that was fetched before the seek, delivered again.
    position.onBatchEnd();
    assertThat(position.isValid()).isFalse();

    position.onRecord();
    assertThat(position.isValid()).isFalse();

    position.onBatchEnd();
    assertThat(position.isValid()).isTrue();
  }

  @Test
  void ignoresRecordsProcessedBeforeTheSeek() {
    position.onRecord();
    position.onSeek();
    position.onBatchEnd();

    assertThat(position.isValid()).isFalse();
  }
}
