// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.metrics.RecordCounts;
import dev.lineagelab.connect.model.ObservedTopic;
import dev.lineagelab.connect.runs.RunPhase;
import dev.lineagelab.connect.runs.RunState;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.junit.jupiter.api.Test;

class SharedStateTest {
  private static final Schema SCHEMA =
      SchemaBuilder.struct().field("id", Schema.INT32_SCHEMA).build();

  private static final long NOW = 1_790_000_000_000L;
  private static final long DAY = 86_400_000;

  private final SharedTopic topic = new SharedTopic();

  private SharedState open(final String group, final String worker) {
    return topic.open(group, worker);
  }

  private static TopicObservation observation(
      final String topic, final Schema value, final long since) {
    return new TopicObservation(new ObservedTopic(topic, null, value, null), since);
  }

  @Test
  void anotherWorkerReadsTheStateOfARun() {
    final RunState run = new RunState(7, RunPhase.PAUSED, "datasets", "config", 8);
    open("group", "a").saveRun("orders", run);
    final SharedState other = open("group", "b");
    assertThat(other.run("orders")).isEqualTo(run);
    assertThat(other.openRuns()).containsExactly("orders");
    assertThat(other.run("other")).isEqualTo(RunState.INITIAL);
  }

  @Test
  void groupsOfOneTopicAreSeparate() {
    open("group", "a").saveRun("orders", new RunState(7, RunPhase.OPEN, "d", "c", 8));
    assertThat(open("other", "b").openRuns()).isEmpty();
  }

  @Test
  void sharesObservationsBetweenWorkers() {
    final SharedState leader = open("group", "a");
    open("group", "b").saveObservation("orders", observation("topic", SCHEMA, 1));
    final long before = leader.topicsVersion("orders");
    leader.poll();
    assertThat(leader.topicsVersion("orders")).isGreaterThan(before);
    assertThat(leader.topics("orders"))
        .singleElement()
        .extracting(ObservedTopic::valueSchema)
        .isEqualTo(SCHEMA);
  }

  @Test
  void doesNotStoreAKnownObservationAgain() {
    final SharedState state = open("group", "a");
    state.saveObservation("orders", observation("topic", SCHEMA, 1));
    final long version = state.topicsVersion("orders");
    final int written = topic.entries().size();
    state.saveObservation(
        "orders",
        observation("topic", SchemaBuilder.struct().field("id", Schema.INT32_SCHEMA).build(), 1));
    assertThat(state.topicsVersion("orders")).isEqualTo(version);
    assertThat(topic.entries()).hasSize(written);
  }

  @Test
  void keepsTopicsObservedAgain() {
    final SharedState state = open("group", "a");
    state.saveObservation("orders", observation("topic", SCHEMA, 1));
    state.saveObservation("orders", observation("topic", SCHEMA, 5));
    state.removeObservationsBefore("orders", 4);
    assertThat(state.topics("orders")).extracting(ObservedTopic::topic).containsExactly("topic");
    state.removeObservationsBefore("orders", 6);
    assertThat(state.topics("orders")).isEmpty();
  }

  @Test
  void keepsTheSchemaOfRecordsBeforeATombstone() {
    final SharedState state = open("group", "a");
    state.saveObservation("orders", observation("topic", SCHEMA, 1));
    state.saveObservation("orders", observation("topic", null, 2));
    assertThat(state.topics("orders"))
        .extracting(ObservedTopic::valueSchema)
        .containsExactly(SCHEMA);
  }

  private static Schema named(final String name, final String... fields) {
    final SchemaBuilder struct = SchemaBuilder.struct().name(name);
    List.of(fields).forEach(field -> struct.field(field, Schema.STRING_SCHEMA));
    return struct.build();
  }

  private static TopicObservation alternating(final Schema value, final long since) {
    return new TopicObservation(new ObservedTopic("topic", null, value, null), since, true);
  }

  private static List<Schema> schemas(final SharedState state) {
    return state.topics("orders").stream().map(ObservedTopic::valueSchema).toList();
  }

  @Test
  void keepsTwoTypesOfOneTopic() {
    final SharedState state = open("group", "a");
    state.saveObservation("orders", observation("topic", named("Order", "id"), 1));
    state.saveObservation("orders", observation("topic", named("Bid", "bid"), 1));
    state.saveObservation("orders", observation("topic", named("Bid", "bid", "more"), 1));
    assertThat(schemas(state))
        .containsExactlyInAnyOrder(named("Order", "id"), named("Bid", "bid", "more"));
    final SharedState other = open("group", "b");
    assertThat(schemas(other)).containsExactlyInAnyOrderElementsOf(schemas(state));
    final int written = topic.entries().size();
    state.saveObservation("orders", observation("topic", named("Order", "id"), 1));
    assertThat(topic.entries()).hasSize(written);
  }

  @Test
  void keepsAlternatingSchemasOfOneName() {
    final SharedState state = open("group", "a");
    state.saveObservation("orders", observation("topic", named("Order", "id"), 1));
    state.saveObservation("orders", observation("topic", named("Order", "other"), 1));
    assertThat(schemas(state)).containsExactly(named("Order", "other"));
    state.saveObservation("orders", alternating(named("Order", "id"), 1));
    assertThat(schemas(state))
        .containsExactlyInAnyOrder(named("Order", "id"), named("Order", "other"));
  }

  @Test
  void removesOneOfTwoTypes() {
    final SharedState state = open("group", "a");
    state.saveObservation("orders", observation("topic", named("Order", "id"), 1));
    state.saveObservation("orders", observation("topic", named("Bid", "bid"), 5));
    assertThat(state.hasObservationsBefore("orders", 4)).isTrue();
    state.removeObservationsBefore("orders", 4);
    assertThat(schemas(state)).containsExactly(named("Bid", "bid"));
    assertThat(schemas(open("group", "b"))).containsExactly(named("Bid", "bid"));
  }

  @Test
  void limitsTheTypesOfOneTopic() {
    final SharedState state = open("group", "a");
    for (int at = 0; at < 100; at++) {
      state.saveObservation("orders", observation("topic", named("Type" + at, "id"), 1));
    }
    assertThat(schemas(state)).hasSizeLessThanOrEqualTo(16).contains(named("Type99", "id"));
  }

  @Test
  void removesForAllWorkers() {
    final SharedState state = open("group", "a");
    state.saveObservation("orders", observation("old", SCHEMA, 1));
    state.saveObservation("orders", observation("new", SCHEMA, 3));
    state.removeObservationsBefore("orders", 2);
    final SharedState other = open("group", "b");
    assertThat(other.topics("orders")).extracting(ObservedTopic::topic).containsExactly("new");
    state.saveLastEvent("orders", "{}");
    state.remove("orders");
    other.poll();
    assertThat(other.topics("orders")).isEmpty();
    assertThat(other.lastEvent("orders")).isEmpty();
  }

  @Test
  void sumsCountsOfOtherWorkers() {
    final SharedState a = open("group", "a");
    final SharedState b = open("group", "b");
    b.saveCounts(Map.of("orders", new RecordCounts(5, 4, 1, 0)), NOW);
    open("group", "c").saveCounts(Map.of("orders", new RecordCounts(1, 1, 0, 0)), NOW);
    a.saveCounts(Map.of("orders", new RecordCounts(100, 100, 0, 0)), NOW);
    a.poll();
    assertThat(a.countsOfOtherWorkers("orders")).isEqualTo(new RecordCounts(6, 5, 1, 0));
    b.poll();
    assertThat(b.countsOfOtherWorkers("orders")).isEqualTo(new RecordCounts(101, 101, 0, 0));
  }

  @Test
  void writesOneRecordOfCountsForAllConnectors() {
    final RecordCounts counts = new RecordCounts(5, 4, 1, 0);
    final SharedState state = open("group", "a");
    state.saveCounts(Map.of("orders", counts, "bids", counts), NOW);
    state.saveCounts(Map.of("orders", counts, "bids", counts), NOW + 30_000);
    assertThat(topic.entries()).hasSize(1);
    assertThat(open("group", "b").countsOfOtherWorkers("bids")).isEqualTo(counts);
  }

  @Test
  void removesCountsOfWorkersThatNoLongerExist() {
    final RecordCounts counts = new RecordCounts(5, 4, 1, 0);
    open("group", "gone").saveCounts(Map.of("orders", counts), NOW);
    topic.add("older version", "[\"counts\",\"group\",\"orders\",\"gone, too\"]", "{}");
    open("group", "a").saveCounts(Map.of(), NOW + DAY);
    assertThat(open("group", "b").countsOfOtherWorkers("orders")).isEqualTo(RecordCounts.NONE);
    assertThat(topic.entries())
        .filteredOn(entry -> entry.value() == null)
        .extracting(SharedTopic.Entry::key)
        .containsExactlyInAnyOrder(
            "[\"counts\",\"group\",\"\",\"gone\"]",
            "[\"counts\",\"group\",\"orders\",\"gone, too\"]");
  }

  @Test
  void heartbeatsAreNotWritten() {
    final SharedState state = open("group", "a");
    for (int beat = 0; beat < 20; beat++) {
      state.saveRun("orders", new RunState(7, RunPhase.OPEN, "d", "c", NOW + beat * 30_000));
    }
    assertThat(topic.entries()).hasSize(2);
  }

  @Test
  void rejectsAndRepairsARecordOfAnEarlierRun() {
    final RunState second = new RunState(2, RunPhase.OPEN, "d", "c", NOW);
    final SharedState zombie = open("group", "zombie");
    final SharedState leader = open("group", "leader");
    leader.saveRun("orders", second);
    zombie.saveRun("orders", new RunState(1, RunPhase.PAUSED, "d", "c", NOW + 1));
    leader.poll();
    assertThat(leader.run("orders")).isEqualTo(second);
    assertThat(topic.entries().get(2).writer()).isEqualTo("leader");
    zombie.poll();
    assertThat(zombie.run("orders")).isEqualTo(second);
  }

  @Test
  void anEndedRunStaysEnded() {
    final RunState ended = new RunState(1, RunPhase.NONE, "d", "c", NOW);
    final SharedState leader = open("group", "leader");
    leader.saveRun("orders", ended);
    open("group", "b").saveRun("orders", new RunState(1, RunPhase.OPEN, "d", "c", NOW + 1));
    leader.poll();
    assertThat(leader.run("orders")).isEqualTo(ended);
  }

  @Test
  void skipsUnreadableRecords() {
    topic.add("x", "no key", "{}");
    topic.add("x", "[\"run\",\"group\",\"orders\",\"\"]", "no value");
    topic.add("x", "[\"run\",\"group\",\"bids\",\"\"]", "{\"phase\":\"LATER\"}");
    topic.add("x", "[\"of a newer version\",\"group\",\"orders\",\"\"]", "{}");
    open("group", "b").saveRun("orders", new RunState(7, RunPhase.OPEN, "d", "c", 8));
    assertThat(open("group", "a").openRuns()).containsExactly("orders");
  }
}
