// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.restarts;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.apache.kafka.connect.health.ConnectorHealth;
import org.apache.kafka.connect.health.ConnectorState;
import org.apache.kafka.connect.health.ConnectorType;
import org.apache.kafka.connect.health.TaskState;
import org.junit.jupiter.api.Test;

/** Restarts themselves are tested with a real worker. */
class FailedTaskRestartsTest {
  private static final String OWN = "worker-1:8083";
  private static final String OTHER = "worker-2:8083";

  private static ConnectorHealth connector(ConnectorState state, Map<Integer, TaskState> tasks) {
    return new ConnectorHealth("a sink", state, tasks, ConnectorType.SINK);
  }

  @Test
  void failedTasksOfTheWorkerAreFound() {
    Map<Integer, TaskState> tasks =
        Map.of(
            0, new TaskState(0, "RUNNING", OWN, ""),
            1, new TaskState(1, "FAILED", OWN, "error"),
            2, new TaskState(2, "FAILED", OTHER, "error"),
            3, new TaskState(3, "PAUSED", OWN, ""));
    ConnectorHealth found = connector(new ConnectorState("RUNNING", OTHER, ""), tasks);
    assertThat(FailedTaskRestarts.failedParts(found, OWN))
        .containsExactly("/connectors/a%20sink/tasks/1");
  }

  @Test
  void aFailedConnectorIsFoundByItsWorkerAlone() {
    ConnectorHealth failed = connector(new ConnectorState("FAILED", OWN, "error"), Map.of());
    assertThat(FailedTaskRestarts.failedParts(failed, OWN)).containsExactly("/connectors/a%20sink");
    assertThat(FailedTaskRestarts.failedParts(failed, OTHER)).isEmpty();
  }
}
