// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.observe.TaskObserver;
import dev.lineagelab.connect.settings.WorkerProperties;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.junit.jupiter.api.Test;

class LineageAgentTest extends AgentTestCase {
  @Test
  void tellsARunFromItsStartToItsEnd() throws Exception {
    set("RUNNING", "RUNNING");
    look(2);
    set("PAUSED", "PAUSED");
    look(3);
    set("RUNNING", "RUNNING");
    look(3);
    cluster.looks.clear();
    look(3);
    final List<JsonNode> events = events();
    assertThat(told(events)).isEqualTo("START1 OTHER1 OTHER1 ABORT1");
    assertThat(events)
        .allSatisfy(event -> assertThat(event.at("/outputs/0/name").asText()).isEqualTo("orders"));
    assertThat(events)
        .allSatisfy(event -> assertThat(event.at("/job/namespace").asText()).isEqualTo("lab"));
  }

  @Test
  void aNewSchemaIsToldAtOnceAndTheSameOneIsNot() throws Exception {
    final TaskObserver task = observations.configured(Map.of());
    set("RUNNING", "RUNNING");
    look(1);
    task.notice("orders", null, ONE, ConnectorType.SINK);
    look(1);
    task.notice(
        "orders",
        null,
        SchemaBuilder.struct().field("id", Schema.INT32_SCHEMA).build(),
        ConnectorType.SINK);
    look(1);
    task.notice("orders", null, TWO, ConnectorType.SINK);
    look(1);
    task.notice("orders", null, null, ConnectorType.SINK);
    look(1);
    final List<JsonNode> events = events();
    assertThat(told(events)).isEqualTo("START1 RUNNING1 RUNNING1 RUNNING1");
    assertThat(events)
        .extracting(event -> event.at("/inputs/0/facets/schema/fields").size())
        .containsExactly(0, 1, 2, 2);
  }

  @Test
  void aHeartbeatComesWithEachInterval() throws Exception {
    set("RUNNING", "RUNNING");
    look(65);
    assertThat(told(events())).isEqualTo("START1 RUNNING1 RUNNING1 RUNNING1");
  }

  @Test
  void failuresHaveTheirTrace() throws Exception {
    set("RUNNING", "FAILED");
    look(2);
    set("RUNNING", "RUNNING");
    look(2);
    final List<JsonNode> events = events();
    assertThat(told(events)).isEqualTo("START1 FAIL1 START2 RUNNING2");
    assertThat(events.get(1).at("/run/facets/errorMessage/message").asText()).contains("why");
  }

  @Test
  void anotherTableEndsTheRunWithTheOldOne() throws Exception {
    set("RUNNING", "RUNNING", "table", "old");
    look(2);
    set("RUNNING", "RUNNING", "table", "old", "flush.size", "5");
    look(2);
    set("RUNNING", "RUNNING", "table", "new");
    look(2);
    final List<JsonNode> events = events();
    assertThat(told(events)).isEqualTo("START1 COMPLETE1 START2 RUNNING2");
    assertThat(events)
        .extracting(event -> event.at("/outputs/0/name").asText())
        .containsExactly("old", "old", "new", "new");
  }

  @Test
  void deletedAndMadeAgainUnseenIsAnotherRun() throws Exception {
    set("RUNNING", "RUNNING");
    look(2);
    cluster.recreated.add("orders");
    look(2);
    assertThat(told(events())).isEqualTo("START1 ABORT1 START2 RUNNING2");
  }

  @Test
  void whoDoesNotSpeakSaysNothing() throws Exception {
    cluster.isSpeaker = false;
    set("RUNNING", "RUNNING");
    look(40);
    assertThat(events()).isEmpty();
  }

  @Test
  void theSuccessorGoesOnWithTheRun() throws Exception {
    set("RUNNING", "RUNNING");
    look(2);
    agent.close(now);
    agent = agent(state);
    look(2);
    assertThat(told(events())).startsWith("START1 RUNNING1 RUNNING1").doesNotContain("2");
  }

  @Test
  void aRunWhoseConnectorVanishedWithItsWorkerIsEnded() throws Exception {
    set("RUNNING", "RUNNING");
    look(2);
    agent.close(now);
    cluster.looks.clear();
    agent = agent(state);
    look(10);
    assertThat(Files.readAllLines(folder.resolve("events"))).hasSize(2);
    look(60);
    final List<JsonNode> events = events();
    assertThat(told(events)).isEqualTo("START1 RUNNING1 ABORT1");
    assertThat(events.get(2).at("/outputs/0/name").asText()).isEqualTo("orders");
  }

  @Test
  void aDescriptionThatFailsCostsOnlyTheDescription() throws Exception {
    agent.close(now);
    agent =
        new LineageAgent(
            cluster,
            new ConnectorSettings(
                Map.of(
                    "transport.type",
                    "file",
                    "transport.file",
                    folder.resolve("events").toString()),
                WorkerProperties.UNKNOWN,
                observations),
            observations,
            counts,
            state,
            (connector, topics, names) -> {
              throw new IllegalStateException("a mistake");
            });
    set("RUNNING", "RUNNING");
    look(2);
    assertThat(told(events())).isEqualTo("START1 RUNNING1");
  }

  @Test
  void oneConnectorsBadOptionsAreNoMatterOfTheOthers() throws Exception {
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
    cluster.looks.put("bad", cluster.looks.remove("orders"));
    set(
        "RUNNING",
        "RUNNING",
        "transforms",
        "l",
        "transforms.l.type",
        TRANSFORM,
        "transforms.l.interval.ms",
        "soon");
    look(2);
    assertThat(told(events())).isEqualTo("START1 RUNNING1");
  }

  @Test
  void theTransformsOwnNamespaceIsThatOfTheJob() throws Exception {
    set(
        "RUNNING",
        "RUNNING",
        "transforms",
        "lineage",
        "transforms.lineage.type",
        TRANSFORM,
        "transforms.lineage.job.namespace",
        "mine");
    look(1);
    assertThat(events())
        .allSatisfy(event -> assertThat(event.at("/job/namespace").asText()).isEqualTo("mine"));
  }
}
