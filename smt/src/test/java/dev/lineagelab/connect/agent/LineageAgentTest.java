// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.tasks.TaskObserver;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.junit.jupiter.api.Test;

class LineageAgentTest extends AgentTestCase {
  @Test
  void emitsARunFromStartToEnd() throws Exception {
    set("RUNNING", "RUNNING");
    poll(2);
    set("PAUSED", "PAUSED");
    poll(3);
    set("RUNNING", "RUNNING");
    poll(3);
    cluster.snapshots.clear();
    poll(3);
    final List<JsonNode> events = events();
    assertThat(eventTypes(events)).isEqualTo("START1 OTHER1 OTHER1 ABORT1");
    assertThat(events)
        .allSatisfy(event -> assertThat(event.at("/outputs/0/name").asText()).isEqualTo("orders"));
    assertThat(events)
        .allSatisfy(event -> assertThat(event.at("/job/namespace").asText()).isEqualTo("lab"));
  }

  @Test
  void emitsNewSchemasAtOnceAndEqualOnesNotAtAll() throws Exception {
    final TaskObserver task = observations.register(Map.of());
    set("RUNNING", "RUNNING");
    poll(1);
    task.observe("orders", null, ONE, ConnectorType.SINK);
    poll(1);
    task.observe(
        "orders",
        null,
        SchemaBuilder.struct().field("id", Schema.INT32_SCHEMA).build(),
        ConnectorType.SINK);
    poll(1);
    task.observe("orders", null, TWO, ConnectorType.SINK);
    poll(1);
    task.observe("orders", null, null, ConnectorType.SINK);
    poll(1);
    final List<JsonNode> events = events();
    assertThat(eventTypes(events)).isEqualTo("START1 RUNNING1 RUNNING1 RUNNING1");
    assertThat(events)
        .extracting(event -> event.at("/inputs/0/facets/schema/fields").size())
        .containsExactly(0, 1, 2, 2);
  }

  @Test
  void emitsAHeartbeatPerInterval() throws Exception {
    set("RUNNING", "RUNNING");
    poll(65);
    final List<JsonNode> events = events();
    assertThat(eventTypes(events)).isEqualTo("START1 RUNNING1 RUNNING1 RUNNING1");
    assertThat(events)
        .filteredOn(event -> event.at("/run/facets").has("lineageLab_emitterQueue"))
        .isEqualTo(events.subList(1, 4))
        .allSatisfy(
            event -> {
              final JsonNode queue = event.at("/run/facets/lineageLab_emitterQueue");
              assertThat(queue.at("/waiting").isInt()).isTrue();
              assertThat(queue.at("/dropped").asInt(-1)).isZero();
            });
  }

  @Test
  void failEventHasTheTrace() throws Exception {
    set("RUNNING", "FAILED");
    poll(2);
    set("RUNNING", "RUNNING");
    poll(2);
    final List<JsonNode> events = events();
    assertThat(eventTypes(events)).isEqualTo("START1 FAIL1 START2 RUNNING2");
    assertThat(events.get(1).at("/run/facets/errorMessage/message").asText()).contains("why");
  }

  @Test
  void oneFailedTaskOfThreeIsTheReasonOfAnEvent() throws Exception {
    set("RUNNING", "RUNNING");
    addTasks("RUNNING", "RUNNING");
    poll(2);
    addTasks("RUNNING", "FAILED");
    poll(2);
    addTasks("RUNNING", "RUNNING");
    poll(2);
    final List<JsonNode> events = events();
    assertThat(eventTypes(events)).isEqualTo("START1 RUNNING1 RUNNING1 RUNNING1");
    assertThat(events)
        .extracting(event -> event.at("/run/facets/lineagelab_connect/reason").asText())
        .containsExactly("a task runs", "1 of 3 tasks failed: 2", "no task is failed", "it runs");
    assertThat(events.get(1).at("/run/facets/lineagelab_connect/tasks/2/message").asText())
        .contains("why");
  }

  @Test
  void changedTableEndsTheRunWithTheOldOne() throws Exception {
    set("RUNNING", "RUNNING", "table", "old");
    poll(2);
    set("RUNNING", "RUNNING", "table", "old", "flush.size", "5");
    poll(2);
    set("RUNNING", "RUNNING", "table", "new");
    poll(2);
    final List<JsonNode> events = events();
    assertThat(eventTypes(events)).isEqualTo("START1 COMPLETE1 START2 RUNNING2");
    assertThat(events)
        .extracting(event -> event.at("/outputs/0/name").asText())
        .containsExactly("old", "old", "new", "new");
  }

  @Test
  void recreationBetweenPollsStartsAnotherRun() throws Exception {
    set("RUNNING", "RUNNING");
    poll(2);
    cluster.recreated.add("orders");
    poll(2);
    assertThat(eventTypes(events())).isEqualTo("START1 ABORT1 START2 RUNNING2");
  }

  @Test
  void emitsNothingWithoutLeadership() throws Exception {
    cluster.isLeader = false;
    set("RUNNING", "RUNNING");
    poll(40);
    assertThat(events()).isEmpty();
  }

  @Test
  void nextLeaderContinuesTheRun() throws Exception {
    set("RUNNING", "RUNNING");
    poll(2);
    agent.close(now);
    agent = agent(state);
    poll(2);
    assertThat(eventTypes(events())).isEqualTo("START1 RUNNING1 RUNNING1 RUNNING1");
  }

  @Test
  void endsAnOrphanedRun() throws Exception {
    set("RUNNING", "RUNNING");
    poll(2);
    agent.close(now);
    cluster.snapshots.clear();
    agent = agent(state);
    poll(10);
    assertThat(Files.readAllLines(folder.resolve("events"))).hasSize(2);
    poll(60);
    final List<JsonNode> events = events();
    assertThat(eventTypes(events)).isEqualTo("START1 RUNNING1 ABORT1");
    assertThat(events.get(2).at("/outputs/0/name").asText()).isEqualTo("orders");
  }

  @Test
  void failedExtractionEmitsEventsWithoutDatasets() throws Exception {
    agent.close(now);
    agent =
        agent(
            state,
            (connector, topics, names) -> {
              throw new IllegalStateException("extraction fails");
            });
    set("RUNNING", "RUNNING");
    poll(2);
    final List<JsonNode> events = events();
    assertThat(eventTypes(events)).isEqualTo("START1 RUNNING1");
    assertThat(events).allSatisfy(event -> assertThat(event.get("outputs")).isEmpty());
  }

  @Test
  void invalidOptionsOfOneConnectorDoNotAffectOthers() throws Exception {
    set(
        "RUNNING",
        "RUNNING",
        "transforms",
        "l",
        "transforms.l.type",
        TRANSFORM,
        "transforms.l.transport.type",
        "http",
        "transforms.l.transport.url",
        "http://127.0.0.1:1",
        "transforms.l.transport.ssl.truststore.location",
        "/none");
    cluster.snapshots.put("bad", cluster.snapshots.remove("orders"));
    set(
        "RUNNING",
        "RUNNING",
        "transforms",
        "l",
        "transforms.l.type",
        TRANSFORM,
        "transforms.l.interval.ms",
        "soon");
    poll(2);
    assertThat(eventTypes(events())).isEqualTo("START1 RUNNING1");
  }

  @Test
  void jobNamespaceIsAnOptionOfTheTransform() throws Exception {
    set(
        "RUNNING",
        "RUNNING",
        "transforms",
        "lineage",
        "transforms.lineage.type",
        TRANSFORM,
        "transforms.lineage.job.namespace",
        "mine");
    poll(1);
    assertThat(events())
        .allSatisfy(event -> assertThat(event.at("/job/namespace").asText()).isEqualTo("mine"));
  }
}
