// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.events.Counts;
import dev.lineagelab.connect.model.ObservedTopic;
import dev.lineagelab.connect.runs.Phase;
import dev.lineagelab.connect.runs.RunState;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.junit.jupiter.api.Test;

class SharedStateTest {
  private static final Schema SCHEMA =
      SchemaBuilder.struct().field("id", Schema.INT32_SCHEMA).build();

  /** Records of all writers, in order. Like those of the topic, they reach all but their writer. */
  private final List<String[]> records = new ArrayList<>();

  private SharedState open(final String group, final String worker) {
    final SharedState state = new SharedState(new SharedLog(worker), group, worker);
    state.catchUp();
    return state;
  }

  private final class SharedLog implements StateLog {
    private final String writer;
    private int position;

    SharedLog(final String writer) {
      this.writer = writer;
    }

    @Override
    public void append(final String key, final String value) {
      records.add(new String[] {writer, key, value});
    }

    @Override
    public void poll(final BiConsumer<String, String> consumer) {
      for (; position < records.size(); position++) {
        final String[] next = records.get(position);
        if (!next[0].equals(writer)) {
          consumer.accept(next[1], next[2]);
        }
      }
    }

    @Override
    public void catchUp(final BiConsumer<String, String> consumer) {
      poll(consumer);
    }

    @Override
    public boolean isDurable() {
      return true;
    }

    @Override
    public void close() {
      // Holds nothing.
    }
  }

  private static Report report(final String topic, final Schema value, final long since) {
    return new Report(new ObservedTopic(topic, null, value, null), since);
  }

  @Test
  void theSuccessorKnowsWhereARunStands() {
    final RunState run = new RunState(7, Phase.PAUSED, "datasets", "config", 8);
    open("group", "a").save("orders", run);
    final SharedState successor = open("group", "b");
    assertThat(successor.run("orders")).isEqualTo(run);
    assertThat(successor.open()).containsExactly("orders");
    assertThat(successor.run("other")).isEqualTo(RunState.INITIAL);
  }

  @Test
  void groupsThatShareTheTopicDoNotMeet() {
    open("group", "a").save("orders", new RunState(7, Phase.OPEN, "d", "c", 8));
    assertThat(open("other", "b").open()).isEmpty();
  }

  @Test
  void whatAnotherWorkersTaskSawIsKnown() {
    final SharedState speaker = open("group", "a");
    open("group", "b").save("orders", report("topic", SCHEMA, 1));
    final long before = speaker.version("orders");
    speaker.poll();
    assertThat(speaker.version("orders")).isGreaterThan(before);
    assertThat(speaker.topics("orders"))
        .singleElement()
        .extracting(ObservedTopic::valueSchema)
        .isEqualTo(SCHEMA);
  }

  @Test
  void sayingTheSameAgainIsNoNews() {
    final SharedState state = open("group", "a");
    state.save("orders", report("topic", SCHEMA, 1));
    final long version = state.version("orders");
    final int written = records.size();
    state.save(
        "orders",
        report("topic", SchemaBuilder.struct().field("id", Schema.INT32_SCHEMA).build(), 1));
    assertThat(state.version("orders")).isEqualTo(version);
    assertThat(records).hasSize(written);
  }

  @Test
  void whatANewTransformSawAgainOutlivesTheOld() {
    final SharedState state = open("group", "a");
    state.save("orders", report("topic", SCHEMA, 1));
    state.save("orders", report("topic", SCHEMA, 5));
    state.forgetBefore("orders", 4);
    assertThat(state.topics("orders")).hasSize(1);
  }

  @Test
  void aTombstoneHidesNoSchema() {
    final SharedState state = open("group", "a");
    state.save("orders", report("topic", SCHEMA, 1));
    state.save("orders", report("topic", null, 2));
    assertThat(state.topics("orders"))
        .extracting(ObservedTopic::valueSchema)
        .containsExactly(SCHEMA);
  }

  @Test
  void forgetsForAllWorkers() {
    final SharedState state = open("group", "a");
    state.save("orders", report("old", SCHEMA, 1));
    state.save("orders", report("new", SCHEMA, 3));
    state.forgetBefore("orders", 2);
    final SharedState other = open("group", "b");
    assertThat(other.topics("orders")).extracting(ObservedTopic::topic).containsExactly("new");
    state.saveEvent("orders", "{}");
    state.forget("orders");
    other.poll();
    assertThat(other.topics("orders")).isEmpty();
    assertThat(other.event("orders")).isEmpty();
  }

  @Test
  void countsAreAddedUpOverWorkers() {
    final SharedState a = open("group", "a");
    final SharedState b = open("group", "b");
    b.save("orders", new Counts(5, 4, 1, 0));
    open("group", "c").save("orders", new Counts(1, 1, 0, 0));
    a.save("orders", new Counts(100, 100, 0, 0));
    a.poll();
    assertThat(a.countsElsewhere("orders")).isEqualTo(new Counts(6, 5, 1, 0));
    b.poll();
    assertThat(b.countsElsewhere("orders")).isEqualTo(new Counts(101, 101, 0, 0));
  }

  @Test
  void whatCannotBeReadIsPassedOver() {
    records.add(new String[] {"x", "no key", "{}"});
    records.add(new String[] {"x", "[\"run\",\"group\",\"orders\",\"\"]", "no value"});
    records.add(new String[] {"x", "[\"run\",\"group\",\"bids\",\"\"]", "{\"phase\":\"LATER\"}"});
    records.add(new String[] {"x", "[\"of a newer version\",\"group\",\"orders\",\"\"]", "{}"});
    open("group", "b").save("orders", new RunState(7, Phase.OPEN, "d", "c", 8));
    assertThat(open("group", "a").open()).containsExactly("orders");
  }
}
