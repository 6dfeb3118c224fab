// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.tasks.TaskObserver;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connectors that no poll finds, known from their transforms alone. */
class ShortLivedConnectorsTest extends AgentTestCase {
  @BeforeEach
  void extract() {
    extractFromObservedTopics();
    now = System.currentTimeMillis();
  }

  private TaskObserver observedRecord() {
    final TaskObserver task = registered();
    task.observe("orders", null, TWO, ConnectorType.SOURCE);
    return task;
  }

  @Test
  void connectorBetweenTwoPollsHasStartAndEnd() throws Exception {
    observations.unregister(observedRecord());
    poll(10);
    final List<JsonNode> events = events();
    assertThat(eventTypes(events)).isEqualTo("START1 ABORT1");
    assertThat(events)
        .allSatisfy(event -> assertThat(event.at("/outputs/0/name").asText()).isEqualTo("orders"));
  }

  @Test
  void secondShortLifeIsAnotherRun() throws Exception {
    observations.unregister(observedRecord());
    pollOnSystemClock();
    observations.unregister(observedRecord());
    pollOnSystemClock();
    assertThat(eventTypes(events())).isEqualTo("START1 ABORT1 START2 ABORT2");
  }

  /** Poll without advancing time beyond the system clock, which transforms take their time from. */
  private void pollOnSystemClock() throws Exception {
    now = System.currentTimeMillis();
    for (int time = 0; time < 5; time++) {
      agent.poll(now++);
    }
    while (System.currentTimeMillis() <= state.run("orders").lastEvent()) {
      Thread.sleep(1);
    }
  }

  @Test
  void connectorWithAnActiveTaskIsLeftToThePoll() throws Exception {
    observedRecord();
    poll(10);
    set("RUNNING", "RUNNING");
    poll(2);
    assertThat(eventTypes(events())).isEqualTo("START1 RUNNING1");
  }

  @Test
  void connectorOfAnotherLeaderIsLeftToIt() throws Exception {
    cluster.isLeader = false;
    set("RUNNING", "RUNNING");
    final TaskObserver task = observedRecord();
    poll(2);
    observations.unregister(task);
    cluster.snapshots.clear();
    poll(5);
    assertThat(events()).isEmpty();
  }
}
