// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.ObservedTopic;
import dev.lineagelab.connect.observe.ConnectorLook;
import dev.lineagelab.connect.observe.TaskObserver;
import dev.lineagelab.connect.state.Report;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a change of configuration does to a run, where only records tell the topics. */
class ChangedConnectorTest extends AgentTestCase {
  @Test
  void columnsSeenBeforeAChangeOfTheChainDoNotCountAfterIt() throws Exception {
    describeByWhatIsSeen();
    now = System.currentTimeMillis();
    configured().notice("orders", null, TWO, ConnectorType.SOURCE);
    set("RUNNING", "RUNNING", "transforms", "lineage");
    look(2);
    set("RUNNING", "RUNNING", "transforms", "flat,lineage");
    look(2);
    final List<JsonNode> events = events();
    assertThat(told(events)).isEqualTo("START1 RUNNING1 RUNNING1");
    assertThat(events)
        .extracting(event -> event.at("/outputs/0/facets").has("schema"))
        .containsExactly(true, false, false);
  }

  @Test
  void aSourceThatIsToldToWriteElsewhereIsAnotherRun() throws Exception {
    describeByWhatIsSeen();
    now = System.currentTimeMillis();
    configured().notice("old", null, TWO, ConnectorType.SOURCE);
    set("RUNNING", "RUNNING", "topic", "old");
    look(2);
    set("RUNNING", "RUNNING", "topic", "new");
    look(2);
    state.save("orders", new Report(new ObservedTopic("new", null, TWO, null), now));
    look(2);
    final List<JsonNode> events = events();
    assertThat(told(events)).isEqualTo("START1 COMPLETE1 START2 RUNNING2");
    assertThat(events)
        .extracting(event -> event.at("/outputs").size() + event.at("/outputs/0/name").asText())
        .containsExactly("1old", "1old", "1new", "1new");
  }

  @Test
  void aSourceThatIsToldToWriteLessIsAnotherRunAsSoonAsItWrites() throws Exception {
    describeByWhatIsSeen();
    now = System.currentTimeMillis();
    final TaskObserver before = configured();
    before.notice("kept", null, TWO, ConnectorType.SOURCE);
    before.notice("quiet", null, TWO, ConnectorType.SOURCE);
    before.notice("dropped", null, TWO, ConnectorType.SOURCE);
    setSource("topics.out", "dropped, kept,quiet");
    look(2);
    setSource("topics.out", "kept,quiet");
    look(200);
    state.save("orders", new Report(new ObservedTopic("kept", null, TWO, null), now));
    look(2);
    final List<JsonNode> events = events();
    assertThat(told(events).replaceAll("(RUNNING1 )+", "RUNNING1 "))
        .isEqualTo("START1 RUNNING1 COMPLETE1 START2 RUNNING2");
    assertThat(outputs(events.get(0))).isEqualTo("dropped kept quiet");
    assertThat(outputs(events.get(events.size() - 1))).isEqualTo("kept quiet");
  }

  @Test
  void aTopicThatTheConfigurationStillNamesIsNotDropped() throws Exception {
    describeByWhatIsSeen();
    now = System.currentTimeMillis();
    final TaskObserver before = configured();
    before.notice("kept", null, TWO, ConnectorType.SOURCE);
    before.notice("quiet", null, TWO, ConnectorType.SOURCE);
    setSource("topics.out", "kept,quiet", "batch", "1");
    look(2);
    setSource("topics.out", "kept,quiet", "batch", "2");
    look(2);
    state.save("orders", new Report(new ObservedTopic("kept", null, TWO, null), now));
    look(2);
    final List<JsonNode> events = events();
    assertThat(told(events)).isEqualTo("START1 RUNNING1");
    assertThat(outputs(events.get(1))).isEqualTo("kept quiet");
  }

  private void setSource(final String... config) {
    set("RUNNING", "RUNNING", config);
    final ConnectorLook sink = cluster.looks.get("orders");
    final ConnectorDefinition view =
        new ConnectorDefinition("orders", ConnectorType.SOURCE, "Odd", sink.view().config(), true);
    cluster.looks.put("orders", new ConnectorLook(view, sink.status(), true));
  }

  private static String outputs(final JsonNode event) {
    final List<String> names = new ArrayList<>();
    event.get("outputs").forEach(output -> names.add(output.get("name").asText()));
    return String.join(" ", names);
  }

  @Test
  void aRunWasThereWhereRecordsWereThoughNoLookSawItRun() throws Exception {
    describeByWhatIsSeen();
    now = System.currentTimeMillis();
    set("UNASSIGNED", null);
    look(1);
    configured().notice("orders", null, TWO, ConnectorType.SOURCE);
    cluster.looks.clear();
    look(3);
    final List<JsonNode> events = events();
    assertThat(told(events)).isEqualTo("START1 ABORT1");
    assertThat(events)
        .allSatisfy(event -> assertThat(event.at("/outputs/0/name").asText()).isEqualTo("orders"));
  }
}
