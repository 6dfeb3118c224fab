// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.tasks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.metrics.RecordCounts;
import org.junit.jupiter.api.Test;

class RecordTotalsTest {
  private static final TaskId TASK = new TaskId("orders", 0);

  private final RecordTotals totals = new RecordTotals();

  private static RecordCounts counts(final long records) {
    return new RecordCounts(records, records, 0, 0);
  }

  @Test
  void sumsOverRestartsAndTasks() {
    totals.update(TASK, new RecordCounts(10, 8, 0, 0));
    totals.update(TASK, counts(12));
    totals.closeTask(TASK, counts(13));
    totals.update(TASK, counts(50));
    totals.update(new TaskId("orders", 1), counts(100));
    totals.update(new TaskId("bids", 0), counts(1000));
    assertThat(totals.total("orders")).isEqualTo(counts(163));
  }

  @Test
  void ignoresFinalCountsThatConnectPublishesAfterTheTaskClosed() {
    totals.closeTask(TASK, counts(13));
    totals.update(TASK, counts(13));
    assertThat(totals.total("orders")).isEqualTo(counts(13));
  }

  @Test
  void detectsARestartByFallingCounts() {
    totals.update(TASK, counts(50));
    totals.update(TASK, counts(1));
    assertThat(totals.total("orders")).isEqualTo(counts(51));
  }

  @Test
  void removesAConnector() {
    totals.update(TASK, counts(50));
    totals.remove("orders");
    assertThat(totals.total("orders")).isEqualTo(RecordCounts.NONE);
  }
}
