// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import static dev.lineagelab.flink.windows.Step.order;
import static dev.lineagelab.flink.windows.Step.watermark;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.flink.windows.Counts.Reason;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is told of which window, and which orders are left out. */
class SupplierWindowsJobTest extends JobTestCase {
  private static final long FIRST = NOON;
  private static final long SECOND_WINDOW = NOON + 5 * SECOND;

  @Test
  void ordersAreCountedAndSummedUpInWindowsOfTheirSupplier() throws Exception {
    final List<SupplierWindow> told =
        run(
            List.of(
                order("alder", "0.10", FIRST),
                order("birch", "7", FIRST + 1),
                order("alder", "0.20", FIRST + 4999),
                order("alder", "99999999.99", SECOND_WINDOW)));

    assertThat(told)
        .containsExactlyInAnyOrder(
            window("alder", FIRST, 2, 30),
            window("birch", FIRST, 1, 700),
            window("alder", SECOND_WINDOW, 1, 99_999_999_99L));
    assertThat(told)
        .filteredOn(window -> window.count() == 2)
        .first()
        .returns("0.30", window -> window.total().toPlainString());
  }

  @Test
  void anOrderThatIsOutOfOrderIsOnTime() throws Exception {
    final List<SupplierWindow> told =
        run(
            List.of(
                order("alder", "1", FIRST + 9998),
                watermark(FIRST + 4997),
                // The watermark is a millisecond short of the end of the window.
                order("alder", "2", FIRST)));

    assertThat(told)
        .containsExactlyInAnyOrder(
            window("alder", FIRST, 1, 200), window("alder", SECOND_WINDOW, 1, 100));
  }

  @Test
  void aWindowIsToldAgainForALateOrder() throws Exception {
    final List<SupplierWindow> told =
        run(
            List.of(
                order("alder", "1", FIRST),
                order("birch", "1", FIRST + 14_998),
                watermark(FIRST + 9997),
                // A millisecond later the window is gone.
                order("alder", "2", FIRST + 4999)));

    assertThat(told)
        .filteredOn(window -> window.supplier().equals("alder"))
        .containsExactly(window("alder", FIRST, 1, 100), window("alder", FIRST, 2, 300));
    assertThat(leftOut(Reason.LATE)).isZero();
  }

  @Test
  void anOrderThatIsTooLateIsDroppedAndCounted() throws Exception {
    final List<SupplierWindow> told =
        run(
            List.of(
                order("alder", "1", FIRST),
                order("birch", "1", FIRST + 15_000),
                watermark(FIRST + 9999),
                order("alder", "2", FIRST + 4999),
                // The window of another supplier is gone too, though none was ever told.
                order("cedar", "2", FIRST)));

    assertThat(told)
        .containsExactlyInAnyOrder(
            window("alder", FIRST, 1, 100), window("birch", FIRST + 15_000, 1, 100));
    assertThat(leftOut(Reason.LATE)).isEqualTo(2);
  }

  @Test
  void ordersWithoutAPlaceAreLeftOutAndCountedByTheFirstThingWrong() throws Exception {
    final List<SupplierWindow> told =
        run(
            List.of(
                order("alder", "12,50", FIRST),
                order("alder", "n/a", FIRST),
                order("alder", null, FIRST),
                order("", "1", FIRST),
                order(null, "broken too", FIRST),
                new Step.Order("1", "alder", null, FIRST),
                order("alder", "1.005", FIRST)));

    assertThat(told).containsExactly(window("alder", FIRST, 1, 101));
    assertThat(leftOut(Reason.BAD_PRICE)).isEqualTo(3);
    assertThat(leftOut(Reason.NO_SUPPLIER)).isEqualTo(2);
    assertThat(leftOut(Reason.NO_TIME)).isEqualTo(1);
    assertThat(leftOut(Reason.AHEAD_OF_RECORD)).isZero();
  }

  @Test
  void anOrderFromTheFutureDoesNotMakeTheOthersLate() throws Exception {
    final long hour = Duration.ofHours(1).toMillis();

    final List<SupplierWindow> told =
        run(
            List.of(
                new Step.Order("1", "alder", FIRST + 100 * hour, FIRST),
                new Step.Order("2", "alder", FIRST + hour + 1, FIRST),
                new Step.Order("4", "alder", FIRST, FIRST),
                watermark(FIRST - 5001),
                new Step.Order("8", "alder", FIRST, FIRST)));

    assertThat(told).containsExactly(window("alder", FIRST, 2, 1200));
    assertThat(leftOut(Reason.AHEAD_OF_RECORD)).isEqualTo(2);
    assertThat(leftOut(Reason.LATE)).isZero();
  }

  @Test
  void aSlowPartitionHoldsUpTheWindows() throws Exception {
    final List<SupplierWindow> told =
        run(
            List.of(order("alder", "1", FIRST), order("alder", "1", FIRST + 60_000)),
            List.of(
                order("birch", "1", FIRST), watermark(FIRST - 5001), order("birch", "1", FIRST)));

    assertThat(told).contains(window("birch", FIRST, 2, 200));
    assertThat(leftOut(Reason.LATE)).isZero();
  }

  @Test
  void anIdlePartitionDoesNot() throws Exception {
    final Windowing impatient =
        new Windowing(
            WINDOWING.size(),
            WINDOWING.outOfOrderness(),
            Duration.ofMillis(50),
            WINDOWING.allowedLateness(),
            WINDOWING.ahead());
    start(
        impatient,
        1,
        null,
        List.of(
            List.of(
                order("alder", "1", FIRST),
                order("alder", "1", FIRST + 10_000),
                watermark(FIRST + 4999),
                new Step.Release()),
            List.of(new Step.Release())));

    probe.await(() -> probe.told().contains(window("alder", FIRST, 1, 100)));
    probe.release();
    finish();
  }

  static SupplierWindow window(
      final String supplier, final long start, final long count, final long cents) {
    return new SupplierWindow(supplier, start, start + 5 * SECOND, count, cents);
  }
}
