// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.ZoneId;
import java.util.Locale;
import org.junit.jupiter.api.Test;

class TimePartitionerTest {
  private static final long HOUR = 3_600_000;

  @Test
  void aTimeBelongsToTheFolderOfItsHour() {
    assertThat(
            path("'year'=yyyy/'month'=MM/'day'=dd/'hour'=HH", HOUR, "UTC", "2026-11-21T03:59:59Z"))
        .isEqualTo("year=2026/month=11/day=21/hour=03");
  }

  @Test
  void timesAreRoundedDownByTheZonesClock() {
    assertThat(path("dd-HH-mm", 24 * HOUR, "Europe/Vienna", "2026-11-21T23:30:00Z"))
        .isEqualTo("22-00-00");
    assertThat(path("HH-mm", 900_000, "Asia/Kathmandu", "2026-11-21T00:00:00Z")).isEqualTo("05-45");
  }

  @Test
  void timesBefore1970AreRoundedDownToo() {
    assertThat(path("yyyy-HH", HOUR, "UTC", "1969-12-31T23:30:00Z")).isEqualTo("1969-23");
  }

  @Test
  void capitalYIsTheYearAndNotThatOfTheWeek() {
    assertThat(path("YYYY-MM-dd", HOUR, "UTC", "2025-12-30T00:00:00Z")).isEqualTo("2025-12-30");
    assertThat(path("'Year'=YYYY", HOUR, "UTC", "2025-12-30T00:00:00Z")).isEqualTo("Year=2025");
  }

  @Test
  void repeatedTimesGiveEqualPaths() {
    final TimePartitioner partitioner =
        new TimePartitioner("HH", HOUR, ZoneId.of("UTC"), Locale.ROOT);

    assertThat(partitioner.pathOf(0)).isEqualTo("00");
    assertThat(partitioner.pathOf(HOUR)).isEqualTo("01");
    assertThat(partitioner.pathOf(HOUR - 1)).isEqualTo("00");
  }

  private static String path(
      final String format, final long duration, final String zone, final String time) {
    return new TimePartitioner(format, duration, ZoneId.of(zone), Locale.ROOT)
        .pathOf(Instant.parse(time).toEpochMilli());
  }
}
