// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConnectorStatusTest {

  private static ConnectorStatus status(final String connector, final String tasks) {
    final TreeMap<Integer, TaskStatus> all = new TreeMap<>();
    for (final String task : tasks == null ? new String[0] : tasks.split(" ")) {
      all.put(
          all.size(),
          new TaskStatus(task, "worker:1", "FAILED".equals(task) ? "trace " + all.size() : null));
    }
    return new ConnectorStatus(
        connector, "worker:1", "FAILED".equals(connector) ? "own trace" : null, all);
  }

  @ParameterizedTest
  @CsvSource({
    "RUNNING, , INACTIVE",
    "RUNNING, UNASSIGNED, INACTIVE",
    "RUNNING, RUNNING, RUNNING",
    "RUNNING, RUNNING FAILED FAILED, RUNNING",
    "RUNNING, FAILED FAILED, FAILED",
    "RUNNING, FAILED UNASSIGNED, INACTIVE",
    "RUNNING, FAILED RESTARTING, INACTIVE",
    "RUNNING, PAUSED, INACTIVE",
    "UNASSIGNED, RUNNING, RUNNING",
    "UNASSIGNED, , INACTIVE",
    "FAILED, , FAILED",
    "FAILED, UNASSIGNED, FAILED",
    "FAILED, RUNNING, RUNNING",
    "PAUSED, RUNNING, PAUSED",
    "PAUSED, PAUSED PAUSED, PAUSED",
    "PAUSED, , PAUSED",
    "PAUSED, FAILED PAUSED, PAUSED",
    "PAUSED, FAILED, FAILED",
    "STOPPED, , STOPPED",
    "STOPPED, RUNNING, STOPPED",
  })
  void combinesConnectorAndTaskStates(
      final String connector, final String tasks, final AggregateState expected) {
    assertThat(status(connector, tasks).aggregateState()).isEqualTo(expected);
  }

  @Test
  void prefersTheConnectorsTraceOverThoseOfItsTasks() {
    assertThat(status("FAILED", "FAILED").firstTrace()).isEqualTo("own trace");
    assertThat(status("RUNNING", "RUNNING FAILED FAILED").firstTrace()).isEqualTo("trace 1");
    assertThat(status("RUNNING", "RUNNING").firstTrace()).isEmpty();
  }
}
