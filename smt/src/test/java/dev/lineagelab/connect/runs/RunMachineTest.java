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

class RunMachineTest {
  private static final long BEGIN = 1_000_000;
  private static final long STEP = 1000;

  /** A connector through a story: what is seen of it, look by look, and the events as they come. */
  private static final class Story {
    private RunState state = RunState.INITIAL;
    private long now = BEGIN;
    private final List<Emission> emissions = new ArrayList<>();

    /** A look, written as condition, then words for what else is seen. */
    void see(final String look) {
      final List<String> words = List.of(look.split(" "));
      final Sighting sighting =
          new Sighting(
              Condition.valueOf(words.get(0)),
              words.contains("recreated"),
              words.contains("other-datasets") ? "other" : "datasets",
              words.contains("other-config") || words.contains("other-datasets") ? "2" : "1",
              words.contains("other-datasets") || words.contains("other-config"),
              words.contains("news"),
              words.contains("due"),
              now);
      final Transition transition = RunMachine.next(state, sighting);
      state = transition.state();
      emissions.addAll(transition.emissions());
      now += STEP;
    }

    /** Events with the number of the run that they are about: START1, ABORT1, START2. */
    String told() {
      final List<Long> generations =
          emissions.stream().map(Emission::generation).distinct().toList();
      return String.join(
          " ",
          emissions.stream()
              .map(event -> event.type().name() + (generations.indexOf(event.generation()) + 1))
              .toList());
    }
  }

  static Stream<Arguments> stories() {
    return Stream.of(
        Arguments.of("created, not yet running", "INACTIVE, INACTIVE", ""),
        Arguments.of("created", "INACTIVE, RUNNING, RUNNING", "START1"),
        Arguments.of("heartbeat", "RUNNING, RUNNING due, RUNNING", "START1 RUNNING1"),
        Arguments.of("news", "RUNNING, RUNNING news", "START1 RUNNING1"),
        Arguments.of(
            "paused and resumed", "RUNNING, PAUSED, PAUSED, RUNNING", "START1 OTHER1 OTHER1"),
        Arguments.of("heartbeat of a pause", "RUNNING, PAUSED, PAUSED due", "START1 OTHER1 OTHER1"),
        Arguments.of("stopped", "RUNNING, STOPPED, STOPPED", "START1 ABORT1"),
        Arguments.of("stopped and resumed", "RUNNING, STOPPED, RUNNING", "START1 ABORT1 START2"),
        Arguments.of("paused, then stopped", "RUNNING, PAUSED, STOPPED", "START1 OTHER1 ABORT1"),
        Arguments.of("deleted", "RUNNING, ABSENT, ABSENT", "START1 ABORT1"),
        Arguments.of("deleted while paused", "RUNNING, PAUSED, ABSENT", "START1 OTHER1 ABORT1"),
        Arguments.of("deleted before it ran", "INACTIVE, ABSENT", ""),
        Arguments.of("deleted, made again", "RUNNING, ABSENT, RUNNING", "START1 ABORT1 START2"),
        Arguments.of("made again unseen", "RUNNING, RUNNING recreated", "START1 ABORT1 START2"),
        Arguments.of(
            "made again, paused", "RUNNING, PAUSED recreated, RUNNING", "START1 ABORT1 START2"),
        Arguments.of(
            "made again after a failure", "FAILED, FAILED recreated", "START1 FAIL1 START2 FAIL2"),
        Arguments.of("failed", "RUNNING, FAILED, FAILED", "START1 FAIL1"),
        Arguments.of("failed before it ran", "INACTIVE, FAILED, FAILED", "START1 FAIL1"),
        Arguments.of("failed while paused", "RUNNING, PAUSED, FAILED", "START1 OTHER1 FAIL1"),
        Arguments.of("failed, restarted", "RUNNING, FAILED, RUNNING", "START1 FAIL1 START2"),
        Arguments.of(
            "failed, then coming back", "RUNNING, FAILED, INACTIVE, FAILED", "START1 FAIL1"),
        Arguments.of(
            "failed, stopped, failed", "FAILED, STOPPED, FAILED", "START1 FAIL1 START2 FAIL2"),
        Arguments.of("failed, deleted", "RUNNING, FAILED, ABSENT", "START1 FAIL1"),
        Arguments.of("rebalanced", "RUNNING, INACTIVE, RUNNING", "START1"),
        Arguments.of(
            "rebalanced for long", "RUNNING, INACTIVE due, RUNNING due", "START1 RUNNING1"),
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
  @MethodSource("stories")
  void tellsTheStory(final String name, final String looks, final String expected) {
    final Story story = new Story();
    for (final String look : looks.split(", ")) {
      story.see(look);
    }
    assertThat(story.told()).as(name).isEqualTo(expected);
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("stories")
  void endsEachRunOnceAndKeepsTimesRising(final String name, final String looks) {
    final Story story = new Story();
    for (final String look : looks.split(", ")) {
      story.see(look);
    }
    for (final long generation :
        story.emissions.stream().map(Emission::generation).distinct().toList()) {
      final List<Emission> run =
          story.emissions.stream().filter(event -> event.generation() == generation).toList();
      assertThat(run.get(0).type()).isEqualTo(EventType.START);
      assertThat(run).filteredOn(event -> event.type() == EventType.START).hasSize(1);
      assertThat(run).filteredOn(event -> event.type().isTerminal()).hasSizeLessThanOrEqualTo(1);
    }
    final List<Long> times = story.emissions.stream().map(Emission::time).toList();
    assertThat(times).isSorted().doesNotHaveDuplicates();
  }

  @Test
  void datasetsThatOnlyNowShowAreOfTheSameRun() {
    final RunState open = new RunState(5, Phase.OPEN, "few", "1", BEGIN);
    final Sighting more =
        new Sighting(Condition.RUNNING, false, "more", "1", false, true, false, BEGIN + STEP);
    final Transition transition = RunMachine.next(open, more);
    assertThat(transition.emissions())
        .extracting(Emission::type)
        .containsExactly(EventType.RUNNING);
    assertThat(transition.state().generation()).isEqualTo(5);
    assertThat(transition.state().datasets()).isEqualTo("more");
  }

  @Test
  void anotherWorkerGoesOnWithTheRunThatIsRemembered() {
    final RunState remembered = new RunState(5, Phase.OPEN, "datasets", "1", BEGIN);
    final Sighting seen =
        new Sighting(Condition.RUNNING, false, "datasets", "1", false, true, true, BEGIN + STEP);
    assertThat(RunMachine.next(remembered, seen).emissions())
        .extracting(Emission::type, Emission::generation)
        .containsExactly(tuple(EventType.RUNNING, 5L));
  }

  @Test
  void clocksThatGoBackDoNotReverseEvents() {
    final RunState open = new RunState(5, Phase.OPEN, "datasets", "1", BEGIN);
    final Sighting earlier =
        new Sighting(Condition.STOPPED, false, "datasets", "1", false, false, false, BEGIN - STEP);
    final Transition ended = RunMachine.next(open, earlier);
    assertThat(ended.emissions()).extracting(Emission::time).containsExactly(BEGIN + 1);
    final Sighting again =
        new Sighting(Condition.RUNNING, false, "datasets", "1", false, false, false, BEGIN - STEP);
    assertThat(RunMachine.next(ended.state(), again).state().generation()).isGreaterThan(5);
  }

  @Test
  void theEndByAChangeIsToldWithTheDatasetsOfBefore() {
    final Story story = new Story();
    story.see("RUNNING");
    story.see("RUNNING other-datasets");
    assertThat(story.emissions).extracting(Emission::isOfPast).containsExactly(false, true, false);
  }
}
