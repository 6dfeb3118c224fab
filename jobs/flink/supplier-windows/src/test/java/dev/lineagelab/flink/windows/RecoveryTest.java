// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import static dev.lineagelab.flink.windows.Step.order;
import static dev.lineagelab.flink.windows.Step.watermark;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.flink.windows.DropCounters.Reason;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that open windows, the watermark and the drop counters are restored after a restart. */
class RecoveryTest extends JobTestBase {
  private static final List<Step> BEFORE =
      List.of(
          order("alder", "1", NOON),
          order("alder", "broken", NOON),
          order("birch", "1", NOON + 15_000),
          watermark(NOON + 9999),
          order("alder", "9", NOON),
          order("birch", "2", NOON + 15_000),
          order("cedar", "1", NOON + 20_000),
          watermark(NOON + 14_999));

  private static final List<Step> AFTER =
      List.of(
          // The first order after the restart: no watermark has been generated yet.
          order("alder", "8", NOON),
          order("alder", "broken", NOON + 15_000),
          order("birch", "4", NOON + 15_001));

  @Test
  void recoversFromACheckpointAfterAFailure() throws Exception {
    start(WINDOWING, 1, null, List.of(script(new Step.Release(), new Step.Failure())));
    probe.await(() -> probe.hasPassed(NOON + 14_999));
    checkpoint();
    probe.release();
    finish();

    assertResults();
  }

  @Test
  void recoversFromASavepointWithAnotherParallelism(@TempDir final Path folder) throws Exception {
    final List<List<Step>> scripts = List.of(script(new Step.Release()));
    start(WINDOWING, 1, null, scripts);
    probe.await(() -> probe.hasPassed(NOON + 14_999));
    final String savepoint = cancelWithSavepoint(folder);

    probe.release();
    start(WINDOWING, 2, savepoint, scripts);
    finish();

    assertResults();
  }

  private void assertResults() {
    assertThat(latest().values())
        .containsExactlyInAnyOrder(
            SupplierWindowsJobTest.window("alder", NOON, 1, 100),
            SupplierWindowsJobTest.window("birch", NOON + 15_000, 3, 700),
            SupplierWindowsJobTest.window("cedar", NOON + 20_000, 1, 100));
    assertThat(dropped(Reason.BAD_PRICE)).isEqualTo(2);
    assertThat(dropped(Reason.LATE)).isEqualTo(2);
  }

  private static List<Step> script(final Step... between) {
    final ArrayList<Step> script = new ArrayList<>(BEFORE);
    script.addAll(List.of(between));
    script.addAll(AFTER);
    return script;
  }
}
