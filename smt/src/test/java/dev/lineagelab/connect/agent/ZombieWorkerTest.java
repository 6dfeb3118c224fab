// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.runs.RunPhase;
import dev.lineagelab.connect.runs.RunState;
import dev.lineagelab.connect.state.SharedState;
import dev.lineagelab.connect.state.SharedTopic;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A worker that was suspended while another one took over its connectors. */
class ZombieWorkerTest extends AgentTestCase {
  private final SharedTopic topic = new SharedTopic();
  private LineageAgent suspended;

  /** Suspend a leader; its successor ends the first run and begins the second. */
  @BeforeEach
  void suspend() throws Exception {
    agent.close(now);
    suspended = agent(topic.open("cluster", "a"));
    set("RUNNING", "RUNNING");
    suspended.poll(now);
    now += 1000;
    agent = agent(topic.open("cluster", "b"));
    poll(1);
    cluster.recreated.add("orders");
    poll(1);
    topic.setLagging(true);
  }

  private String afterTheEndOfTheFirstRun() throws Exception {
    final String types = eventTypes(events());
    return types.substring(types.indexOf("ABORT1") + "ABORT1".length());
  }

  private RunState storedRun() {
    final SharedState third = topic.open("cluster", "c");
    return third.run("orders");
  }

  @Test
  void doesNotContinueARunThatItsSuccessorHasEnded() throws Exception {
    final RunState second = storedRun();
    now += 400_000;
    suspended.poll(now);
    suspended.close(now);
    assertThat(storedRun().generation()).isEqualTo(second.generation());
    assertThat(afterTheEndOfTheFirstRun()).doesNotContain("1");
  }

  @Test
  void doesNotEndARunThatItsSuccessorHasEnded() throws Exception {
    final RunState second = storedRun();
    set("RUNNING", "FAILED");
    suspended.poll(now);
    assertThat(storedRun()).isEqualTo(second);
    assertThat(second.phase()).isEqualTo(RunPhase.OPEN);
    assertThat(afterTheEndOfTheFirstRun()).doesNotContain("1");
  }
}
