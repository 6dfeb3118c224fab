// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.observe.TaskObserver;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connectors that no look finds: only their transforms were there. */
class BriefLivesTest extends AgentTestCase {
  @BeforeEach
  void describe() {
    describeByWhatIsSeen();
    now = System.currentTimeMillis();
  }

  private TaskObserver worked() {
    final TaskObserver task = configured();
    task.notice("orders", null, TWO, ConnectorType.SOURCE);
    return task;
  }

  @Test
  void aLifeBetweenTwoLooksHasItsStartAndItsEnd() throws Exception {
    observations.closed(worked());
    look(10);
    final List<JsonNode> events = events();
    assertThat(told(events)).isEqualTo("START1 ABORT1");
    assertThat(events)
        .allSatisfy(event -> assertThat(event.at("/outputs/0/name").asText()).isEqualTo("orders"));
  }

  @Test
  void anotherSuchLifeIsAnotherRun() throws Exception {
    observations.closed(worked());
    lookWithoutHaste();
    observations.closed(worked());
    lookWithoutHaste();
    assertThat(told(events())).isEqualTo("START1 ABORT1 START2 ABORT2");
  }

  /** Some looks; transforms, which count by the real clock, are younger than all that they told. */
  private void lookWithoutHaste() throws Exception {
    now = System.currentTimeMillis();
    for (int time = 0; time < 5; time++) {
      agent.cycle(now++);
    }
    while (System.currentTimeMillis() <= state.run("orders").lastEvent()) {
      Thread.sleep(1);
    }
  }

  @Test
  void aTaskThatStillWorksIsAboutToBeFound() throws Exception {
    worked();
    look(10);
    set("RUNNING", "RUNNING");
    look(2);
    assertThat(told(events())).isEqualTo("START1 RUNNING1");
  }

  @Test
  void whatAnotherWorkerSpeaksOfIsLeftToIt() throws Exception {
    cluster.isSpeaker = false;
    set("RUNNING", "RUNNING");
    final TaskObserver task = worked();
    look(2);
    observations.closed(task);
    cluster.looks.clear();
    look(5);
    assertThat(events()).isEmpty();
  }
}
