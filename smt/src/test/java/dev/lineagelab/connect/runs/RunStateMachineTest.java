// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class RunStateMachineTest {
  private static final long BEGIN = 1_000_000;
  private static final long STEP = 1000;

  /** Sequence of polls of one connector, with the events due in order. */
  private static final class Scenario {
    private RunState state = RunState.INITIAL;
    private long now = BEGIN;
    private final List<DueEvent> events = new ArrayList<>();

    /** Run polls separated by commas. */
    static Scenario of(final String polls) {
      final Scenario scenario = new Scenario();
      for (final String poll : polls.split(", ")) {
        scenario.poll(poll);
      }
      return scenario;
    }

    /** Run one poll, written as aggregate state followed by flags. */
    private void poll(final String poll) {
      final List<String> words = List.of(poll.split(" "));
      final boolean hasOtherDatasets = words.contains("other-datasets");
      final boolean hasOtherConfig = hasOtherDatasets || words.contains("other-config");
      final RunInput input =
          RunInput.of(
                  AggregateState.valueOf(words.get(0)),
                  hasOtherDatasets ? "other" : "datasets",
                  hasOtherConfig ? "2" : "1",
                  now)
              .recreated(words.contains("recreated"))
              .configChanged(hasOtherConfig)
              .changed(words.contains("lineage-changed") ? "lineage changed" : null)
              .heartbeatDue(words.contains("due"));
      final Transition transition = RunStateMachine.next(state, input);
      state = transition.state();
      events.addAll(transition.events());
      now += STEP;
    }

    /** Event types with the number of the run that they belong to: START1, ABORT1, START2. */
    String eventTypes() {
      final List<Long> generations = events.stream().map(DueEvent::generation).distinct().toList();
      return String.join(
          " ",
          events.stream()
              .map(event -> event.type().name() + (generations.indexOf(event.generation()) + 1))
              .toList());
    }
  }

  static Stream<Arguments> scenarios() {
    return Stream.of(
        Arguments.of("created, not yet running", "INACTIVE, INACTIVE", ""),
        Arguments.of("created", "INACTIVE, RUNNING, RUNNING", "START1"),
        Arguments.of("heartbeat", "RUNNING, RUNNING due, RUNNING", "START1 RUNNING1"),
        Arguments.of("lineage changed", "RUNNING, RUNNING lineage-changed", "START1 RUNNING1"),
        Arguments.of(
            "paused and resumed", "RUNNING, PAUSED, PAUSED, RUNNING", "START1 OTHER1 OTHER1"),
        Arguments.of(
            "heartbeat while paused", "RUNNING, PAUSED, PAUSED due", "START1 OTHER1 OTHER1"),
        Arguments.of("stopped", "RUNNING, STOPPED, STOPPED", "START1 ABORT1"),
        Arguments.of("stopped and resumed", "RUNNING, STOPPED, RUNNING", "START1 ABORT1 START2"),
        Arguments.of("paused, then stopped", "RUNNING, PAUSED, STOPPED", "START1 OTHER1 ABORT1"),
        Arguments.of("deleted", "RUNNING, ABSENT, ABSENT", "START1 ABORT1"),
        Arguments.of("deleted while paused", "RUNNING, PAUSED, ABSENT", "START1 OTHER1 ABORT1"),
        Arguments.of("deleted before it ran", "INACTIVE, ABSENT", ""),
        Arguments.of("deleted and recreated", "RUNNING, ABSENT, RUNNING", "START1 ABORT1 START2"),
        Arguments.of(
            "recreated between polls", "RUNNING, RUNNING recreated", "START1 ABORT1 START2"),
        Arguments.of(
            "recreated paused", "RUNNING, PAUSED recreated, RUNNING", "START1 ABORT1 START2"),
        Arguments.of(
            "recreated after a failure", "FAILED, FAILED recreated", "START1 FAIL1 START2 FAIL2"),
        Arguments.of("failed", "RUNNING, FAILED, FAILED", "START1 FAIL1"),
        Arguments.of("failed before it ran", "INACTIVE, FAILED, FAILED", "START1 FAIL1"),
        Arguments.of("failed while paused", "RUNNING, PAUSED, FAILED", "START1 OTHER1 FAIL1"),
        Arguments.of("failed, restarted", "RUNNING, FAILED, RUNNING", "START1 FAIL1 START2"),
        Arguments.of("failed, restart fails", "RUNNING, FAILED, INACTIVE, FAILED", "START1 FAIL1"),
        Arguments.of(
            "failed, stopped, failed", "FAILED, STOPPED, FAILED", "START1 FAIL1 START2 FAIL2"),
        Arguments.of("failed, deleted", "RUNNING, FAILED, ABSENT", "START1 FAIL1"),
        Arguments.of("rebalanced", "RUNNING, INACTIVE, RUNNING", "START1"),
        Arguments.of("long rebalance", "RUNNING, INACTIVE due, RUNNING due", "START1 RUNNING1"),
        Arguments.of("created paused", "PAUSED, PAUSED due, RUNNING", "START1"),
        Arguments.of("created stopped", "STOPPED, RUNNING", "START1"),
        Arguments.of(
            "other config", "RUNNING, RUNNING other-config, RUNNING other-config", "START1"),
        Arguments.of(
            "other datasets", "RUNNING, RUNNING other-datasets", "START1 COMPLETE1 START2"),
        Arguments.of(
            "other datasets while paused",
            "RUNNING, PAUSED, PAUSED other-datasets, RUNNING other-datasets",
            "START1 OTHER1 COMPLETE1 START2"));
  }

  @ParameterizedTest(name = "{0}: {2}")
  @MethodSource("scenarios")
  void emitsTheExpectedEvents(final String name, final String polls, final String expected) {
    assertThat(Scenario.of(polls).eventTypes()).as(name).isEqualTo(expected);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("scenarios")
  void endsEachRunOnceWithIncreasingTimes(final String name, final String polls) {
    final List<DueEvent> events = Scenario.of(polls).events;
    for (final long generation : events.stream().map(DueEvent::generation).distinct().toList()) {
      final List<DueEvent> run =
          events.stream().filter(event -> event.generation() == generation).toList();
      assertThat(run.get(0).type()).isEqualTo(EventType.START);
      assertThat(run).filteredOn(event -> event.type() == EventType.START).hasSize(1);
      assertThat(run.subList(0, run.size() - 1)).noneMatch(event -> event.type().isTerminal());
    }
    assertThat(events.stream().map(DueEvent::time).toList()).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void datasetsDiscoveredLaterBelongToTheSameRun() {
    final RunState open = new RunState(5, RunPhase.OPEN, "few", "1", BEGIN);
    final RunInput more =
        RunInput.of(AggregateState.RUNNING, "more", "1", BEGIN + STEP).changed("lineage changed");
    final Transition transition = RunStateMachine.next(open, more);
    assertThat(transition.events()).extracting(DueEvent::type).containsExactly(EventType.RUNNING);
    assertThat(transition.state().generation()).isEqualTo(5);
    assertThat(transition.state().datasets()).isEqualTo("more");
  }

  @Test
  void anotherWorkerContinuesTheStoredRun() {
    final RunState stored = new RunState(5, RunPhase.OPEN, "datasets", "1", BEGIN);
    final RunInput input =
        RunInput.of(AggregateState.RUNNING, "datasets", "1", BEGIN + STEP)
            .changed("lineage changed")
            .heartbeatDue(true);
    assertThat(RunStateMachine.next(stored, input).events())
        .extracting(DueEvent::type, DueEvent::generation)
        .containsExactly(tuple(EventType.RUNNING, 5L));
  }

  @Test
  void clockSetBackDoesNotReorderEvents() {
    final RunState open = new RunState(5, RunPhase.OPEN, "datasets", "1", BEGIN);
    final Transition ended =
        RunStateMachine.next(
            open, RunInput.of(AggregateState.STOPPED, "datasets", "1", BEGIN - STEP));
    assertThat(ended.events()).extracting(DueEvent::time).containsExactly(BEGIN + 1);
    final RunInput resumed = RunInput.of(AggregateState.RUNNING, "datasets", "1", BEGIN - STEP);
    assertThat(RunStateMachine.next(ended.state(), resumed).state().generation()).isGreaterThan(5);
  }

  @Test
  void endByConfigChangeReportsThePreviousDatasets() {
    assertThat(Scenario.of("RUNNING, RUNNING other-datasets").events)
        .extracting(DueEvent::usesPreviousSnapshot)
        .containsExactly(false, true, false);
  }

  @Test
  void onlyHeartbeatsArePeriodic() {
    assertThat(Scenario.of("RUNNING, RUNNING due, RUNNING lineage-changed, STOPPED").events)
        .extracting(DueEvent::isPeriodic)
        .containsExactly(false, true, false, false);
  }
}
