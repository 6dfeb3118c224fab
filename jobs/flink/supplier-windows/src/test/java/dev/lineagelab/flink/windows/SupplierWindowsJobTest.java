// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import static dev.lineagelab.flink.windows.Step.order;
import static dev.lineagelab.flink.windows.Step.watermark;
import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.flink.windows.DropCounters.Reason;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of the emitted windows and of the dropped orders. */
class SupplierWindowsJobTest extends JobTestBase {
  private static final long FIRST = NOON;
  private static final long SECOND_WINDOW = NOON + 5 * SECOND;

  @Test
  void aggregatesOrdersPerSupplierAndWindow() throws Exception {
    final List<SupplierWindow> windows =
        run(
            List.of(
                order("alder", "0.10", FIRST),
                order("birch", "7", FIRST + 1),
                order("alder", "0.20", FIRST + 4999),
                order("alder", "99999999.99", SECOND_WINDOW)));

    assertThat(windows)
        .containsExactlyInAnyOrder(
            window("alder", FIRST, 2, 30),
            window("birch", FIRST, 1, 700),
            window("alder", SECOND_WINDOW, 1, 99_999_999_99L));
    assertThat(windows)
        .filteredOn(window -> window.count() == 2)
        .first()
        .returns("0.30", window -> window.total().toPlainString());
  }

  @Test
  void acceptsOutOfOrderOrders() throws Exception {
    final List<SupplierWindow> windows =
        run(
            List.of(
                order("alder", "1", FIRST + 9998),
                watermark(FIRST + 4997),
                // The watermark is one millisecond before the end of the window.
                order("alder", "2", FIRST)));

    assertThat(windows)
        .containsExactlyInAnyOrder(
            window("alder", FIRST, 1, 200), window("alder", SECOND_WINDOW, 1, 100));
  }

  @Test
  void lateOrderWithinAllowedLatenessReemitsTheWindow() throws Exception {
    final List<SupplierWindow> windows =
        run(
            List.of(
                order("alder", "1", FIRST),
                order("birch", "1", FIRST + 14_998),
                watermark(FIRST + 9997),
                // One millisecond later the window would have expired.
                order("alder", "2", FIRST + 4999)));

    assertThat(windows)
        .filteredOn(window -> window.supplier().equals("alder"))
        .containsExactly(window("alder", FIRST, 1, 100), window("alder", FIRST, 2, 300));
    assertThat(dropped(Reason.LATE)).isZero();
  }

  @Test
  void dropsAndCountsOrdersAfterAllowedLateness() throws Exception {
    final List<SupplierWindow> windows =
        run(
            List.of(
                order("alder", "1", FIRST),
                order("birch", "1", FIRST + 15_000),
                watermark(FIRST + 9999),
                order("alder", "2", FIRST + 4999),
                // The same window of another supplier has expired as well, without ever being
                // emitted.
                order("cedar", "2", FIRST)));

    assertThat(windows)
        .containsExactlyInAnyOrder(
            window("alder", FIRST, 1, 100), window("birch", FIRST + 15_000, 1, 100));
    assertThat(dropped(Reason.LATE)).isEqualTo(2);
  }

  @Test
  void countsInvalidOrdersByTheFirstViolatedRule() throws Exception {
    final List<SupplierWindow> windows =
        run(
            List.of(
                order("alder", "12,50", FIRST),
                order("alder", "n/a", FIRST),
                order("alder", null, FIRST),
                order("", "1", FIRST),
                order(null, "broken too", FIRST),
                new Step.Order("1", "alder", null, FIRST),
                order("alder", "1.005", FIRST)));

    assertThat(windows).containsExactly(window("alder", FIRST, 1, 101));
    assertThat(dropped(Reason.BAD_PRICE)).isEqualTo(3);
    assertThat(dropped(Reason.NO_SUPPLIER)).isEqualTo(2);
    assertThat(dropped(Reason.NO_TIME)).isEqualTo(1);
    assertThat(dropped(Reason.AHEAD_OF_RECORD)).isZero();
  }

  @Test
  void orderFromTheFutureDoesNotAdvanceTheWatermark() throws Exception {
    final long hour = Duration.ofHours(1).toMillis();

    final List<SupplierWindow> windows =
        run(
            List.of(
                new Step.Order("1", "alder", FIRST + 100 * hour, FIRST),
                new Step.Order("2", "alder", FIRST + hour + 1, FIRST),
                new Step.Order("4", "alder", FIRST, FIRST),
                watermark(FIRST - 5001),
                new Step.Order("8", "alder", FIRST, FIRST)));

    assertThat(windows).containsExactly(window("alder", FIRST, 2, 1200));
    assertThat(dropped(Reason.AHEAD_OF_RECORD)).isEqualTo(2);
    assertThat(dropped(Reason.LATE)).isZero();
  }

  @Test
  void slowPartitionHoldsBackTheWatermark() throws Exception {
    final List<SupplierWindow> windows =
        run(
            List.of(order("alder", "1", FIRST), order("alder", "1", FIRST + 60_000)),
            List.of(
                order("birch", "1", FIRST), watermark(FIRST - 5001), order("birch", "1", FIRST)));

    assertThat(windows).contains(window("birch", FIRST, 2, 200));
    assertThat(dropped(Reason.LATE)).isZero();
  }

  @Test
  void idlePartitionDoesNotHoldBackTheWatermark() throws Exception {
    final Windowing shortIdleness =
        new Windowing(
            WINDOWING.size(),
            WINDOWING.outOfOrderness(),
            Duration.ofMillis(50),
            WINDOWING.allowedLateness(),
            WINDOWING.ahead());
    start(
        shortIdleness,
        1,
        null,
        List.of(
            List.of(
                order("alder", "1", FIRST),
                order("alder", "1", FIRST + 10_000),
                watermark(FIRST + 4999),
                new Step.Release()),
            List.of(new Step.Release())));

    probe.await(() -> probe.windows().contains(window("alder", FIRST, 1, 100)));
    probe.release();
    finish();
  }

  static SupplierWindow window(
      final String supplier, final long start, final long count, final long cents) {
    return new SupplierWindow(supplier, start, start + 5 * SECOND, count, cents);
  }
}
