// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.lineagelab.connect.cluster.ConnectorSnapshot;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.ObservedTopic;
import dev.lineagelab.connect.state.TopicObservation;
import dev.lineagelab.connect.tasks.TaskObserver;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Configuration changes of a connector whose topics are known from its records alone. */
class ConfigChangeTest extends AgentTestCase {
  @Test
  void changedChainClearsObservedSchemas() throws Exception {
    extractFromObservedTopics();
    now = System.currentTimeMillis();
    registered().observe("orders", null, TWO, ConnectorType.SOURCE);
    set("RUNNING", "RUNNING", "transforms", "lineage");
    poll(2);
    set("RUNNING", "RUNNING", "transforms", "flat,lineage");
    poll(2);
    final List<JsonNode> events = events();
    assertThat(eventTypes(events)).isEqualTo("START1 RUNNING1 RUNNING1");
    assertThat(events)
        .extracting(event -> event.at("/outputs/0/facets").has("schema"))
        .containsExactly(true, false, false);
  }

  @Test
  void changedTopicStartsAnotherRun() throws Exception {
    extractFromObservedTopics();
    now = System.currentTimeMillis();
    registered().observe("old", null, TWO, ConnectorType.SOURCE);
    set("RUNNING", "RUNNING", "topic", "old");
    poll(2);
    set("RUNNING", "RUNNING", "topic", "new");
    poll(2);
    state.saveObservation(
        "orders", new TopicObservation(new ObservedTopic("new", null, TWO, null), now));
    poll(2);
    final List<JsonNode> events = events();
    assertThat(eventTypes(events)).isEqualTo("START1 COMPLETE1 START2 RUNNING2");
    assertThat(events)
        .extracting(event -> event.at("/outputs").size() + event.at("/outputs/0/name").asText())
        .containsExactly("1old", "1old", "1new", "1new");
  }

  @Test
  void removedTopicStartsAnotherRunWithTheNextRecord() throws Exception {
    extractFromObservedTopics();
    now = System.currentTimeMillis();
    final TaskObserver before = registered();
    before.observe("kept", null, TWO, ConnectorType.SOURCE);
    before.observe("quiet", null, TWO, ConnectorType.SOURCE);
    before.observe("dropped", null, TWO, ConnectorType.SOURCE);
    setSource("topics.out", "dropped, kept,quiet");
    poll(2);
    setSource("topics.out", "kept,quiet");
    poll(200);
    state.saveObservation(
        "orders", new TopicObservation(new ObservedTopic("kept", null, TWO, null), now));
    poll(2);
    final List<JsonNode> events = events();
    assertThat(eventTypes(events).replaceAll("(RUNNING1 )+", "RUNNING1 "))
        .isEqualTo("START1 RUNNING1 COMPLETE1 START2 RUNNING2");
    assertThat(outputs(events.get(0))).isEqualTo("dropped kept quiet");
    assertThat(outputs(events.get(events.size() - 1))).isEqualTo("kept quiet");
  }

  @Test
  void keepsTopicsThatTheConfigurationStillNames() throws Exception {
    extractFromObservedTopics();
    now = System.currentTimeMillis();
    final TaskObserver before = registered();
    before.observe("kept", null, TWO, ConnectorType.SOURCE);
    before.observe("quiet", null, TWO, ConnectorType.SOURCE);
    setSource("topics.out", "kept,quiet", "batch", "1");
    poll(2);
    setSource("topics.out", "kept,quiet", "batch", "2");
    poll(2);
    state.saveObservation(
        "orders", new TopicObservation(new ObservedTopic("kept", null, TWO, null), now));
    poll(2);
    final List<JsonNode> events = events();
    assertThat(eventTypes(events)).isEqualTo("START1 RUNNING1");
    assertThat(outputs(events.get(1))).isEqualTo("kept quiet");
  }

  private void setSource(final String... config) {
    set("RUNNING", "RUNNING", config);
    final ConnectorSnapshot sink = cluster.snapshots.get("orders");
    final ConnectorDefinition definition =
        new ConnectorDefinition(
            "orders", ConnectorType.SOURCE, "Odd", sink.definition().config(), true);
    cluster.snapshots.put("orders", new ConnectorSnapshot(definition, sink.status(), true));
  }

  private static String outputs(final JsonNode event) {
    final List<String> names = new ArrayList<>();
    event.get("outputs").forEach(output -> names.add(output.get("name").asText()));
    return String.join(" ", names);
  }

  @Test
  void observedRecordsStartARunThatNoPollFound() throws Exception {
    extractFromObservedTopics();
    now = System.currentTimeMillis();
    set("UNASSIGNED", null);
    poll(1);
    registered().observe("orders", null, TWO, ConnectorType.SOURCE);
    cluster.snapshots.clear();
    poll(3);
    final List<JsonNode> events = events();
    assertThat(eventTypes(events)).isEqualTo("START1 ABORT1");
    assertThat(events)
        .allSatisfy(event -> assertThat(event.at("/outputs/0/name").asText()).isEqualTo("orders"));
  }
}
