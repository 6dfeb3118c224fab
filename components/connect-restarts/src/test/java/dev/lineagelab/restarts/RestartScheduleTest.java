// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.restarts;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RestartScheduleTest {
  private static final String TASK = "/connectors/sink/tasks/0";
  private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");

  private final RestartSchedule schedule = new RestartSchedule();

  /**
   * Return the seconds at which the task is restarted, if it is failed from the first second on.
   */
  private List<Integer> restarts(int from, int until) {
    List<Integer> found = new ArrayList<>();
    for (int second = from; second < until; second++) {
      if (!schedule.due(List.of(TASK), BEGIN.plusSeconds(second)).isEmpty()) {
        found.add(second);
      }
    }
    return found;
  }

  @Test
  void aTaskThatRemainsFailedIsRestartedEverLater() {
    assertThat(restarts(0, 1_300)).containsExactly(10, 30, 70, 150, 310, 610, 910, 1_210);
  }

  @Test
  void aTaskThatFailsAgainWaitsForTheNextDelay() {
    assertThat(restarts(0, 15)).containsExactly(10);
    assertThat(schedule.due(List.of(), BEGIN.plusSeconds(15))).isEmpty();
    assertThat(restarts(100, 130)).containsExactly(120);
  }

  @Test
  void aTaskThatHasRunForLongBeginsAnew() {
    assertThat(restarts(0, 15)).containsExactly(10);
    for (int second = 15; second < 400; second++) {
      assertThat(schedule.due(List.of(), BEGIN.plusSeconds(second))).isEmpty();
    }
    assertThat(restarts(400, 420)).containsExactly(410);
  }

  @Test
  void eachPartHasItsOwnDelay() {
    assertThat(schedule.due(List.of(TASK), BEGIN)).isEmpty();
    List<String> both = List.of(TASK, "/connectors/other");
    assertThat(schedule.due(both, BEGIN.plusSeconds(10))).containsExactly(TASK);
    assertThat(schedule.due(both, BEGIN.plusSeconds(20))).containsExactly("/connectors/other");
  }
}
