// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.events.Counts;
import dev.lineagelab.connect.events.RunEvent;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.LineageExtractor;
import dev.lineagelab.connect.observe.ConnectorLook;
import dev.lineagelab.connect.registry.SchemaVersionEnricher;
import dev.lineagelab.connect.runs.Condition;
import dev.lineagelab.connect.runs.Emission;
import dev.lineagelab.connect.runs.EventType;
import dev.lineagelab.connect.runs.Fingerprint;
import dev.lineagelab.connect.runs.Phase;
import dev.lineagelab.connect.runs.RunIds;
import dev.lineagelab.connect.runs.RunMachine;
import dev.lineagelab.connect.runs.RunState;
import dev.lineagelab.connect.runs.Sighting;
import dev.lineagelab.connect.runs.Steady;
import dev.lineagelab.connect.runs.Transition;
import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.state.SharedState;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;

/** One connector that this worker speaks of. */
final class ConnectorTracker {
  private final String connector;
  private final String cluster;
  private final SharedState state;
  private final Descriptions descriptions;
  private final ConfigChange change;
  private final Steady steady = new Steady();
  private Picture last;
  private Picture lastTold;
  private Counts countsTold;

  /**
   * The first counts that are seen are where counting begins: what was before, another has told.
   */
  ConnectorTracker(
      final String connector,
      final String cluster,
      final LineageExtractor describer,
      final SchemaVersionEnricher versions,
      final SharedState state,
      final Counts counts) {
    this.connector = connector;
    this.cluster = cluster;
    this.state = state;
    this.descriptions = new Descriptions(describer, versions, state);
    this.change = new ConfigChange(connector, state);
    this.countsTold = counts;
  }

  /**
   * Takes a step with a connector that is there.
   *
   * @param recreated whether it was deleted and made again since the last step
   */
  List<RunEvent> step(
      final ConnectorLook look,
      final PluginSettings settings,
      final boolean recreated,
      final Supplier<Counts> counts,
      final long now) {
    change.see(look.view(), recreated, settings, now);
    final RunState run = state.run(connector);
    final String config = Fingerprint.ofConfig(look.view().config());
    final boolean isChanged = change.isPending() || !config.equals(run.config());
    Picture picture = picture(look, settings);
    if (isChanged && differs(picture.description(), run) && change.forget()) {
      picture = picture(look, settings);
    }
    final Sighting sighting =
        new Sighting(
            condition(steady.see(look.status().condition()), run),
            recreated,
            Fingerprint.ofDatasets(picture.description()),
            config,
            isChanged,
            picture.isNewsAfter(lastTold),
            now - run.lastEvent() >= settings.interval().toMillis(),
            now);
    return advance(RunMachine.next(run, sighting), picture, counts);
  }

  /** Takes a step with a connector that is not there. Empty until that is believed. */
  List<RunEvent> stepAbsent(final Supplier<Counts> counts, final long now) {
    final RunState run = state.run(connector);
    final Condition condition = condition(steady.see(Condition.ABSENT), run);
    if (last == null || condition != Condition.ABSENT && condition != Condition.RUNNING) {
      return List.of();
    }
    final Picture picture = last.with(descriptions.of(last.view(), last.settings()));
    return advance(
        RunMachine.next(run, unchanged(condition, picture, false, now)), picture, counts);
  }

  /** A last word before the worker stops; the run goes on wherever the connector will. */
  List<RunEvent> flush(final Supplier<Counts> counts, final long now) {
    final RunState run = state.run(connector);
    if (last == null || !run.phase().isOpen()) {
      return List.of();
    }
    final Picture picture = last.with(descriptions.of(last.view(), last.settings()));
    final Transition transition =
        RunMachine.next(run, unchanged(last.status().condition(), picture, true, now));
    final boolean isEnd =
        transition.emissions().stream().anyMatch(emission -> emission.type().isTerminal());
    return isEnd ? List.of() : advance(transition, picture, counts);
  }

  /** Whether the connector is believed to be gone, and all is said of it. */
  boolean isDone() {
    return steady.believed() == Condition.ABSENT && !state.run(connector).phase().isOpen();
  }

  /** Where records were seen, a task has run, however short. */
  private Condition condition(final Condition believed, final RunState run) {
    final boolean hasRun = state.newestReport(connector) > run.lastEvent();
    return run.phase() == Phase.NONE && hasRun ? Condition.RUNNING : believed;
  }

  private Sighting unchanged(
      final Condition condition, final Picture picture, final boolean isDue, final long now) {
    return new Sighting(
        condition,
        false,
        Fingerprint.ofDatasets(picture.description()),
        Fingerprint.ofConfig(picture.view().config()),
        false,
        false,
        isDue,
        now);
  }

  private static boolean differs(final ConnectorLineage description, final RunState run) {
    return run.phase().isOpen() && !Fingerprint.ofDatasets(description).equals(run.datasets());
  }

  private Picture picture(final ConnectorLook look, final PluginSettings settings) {
    final ConnectorLineage description = descriptions.of(look.view(), settings);
    return new Picture(look.view(), look.status(), description, settings);
  }

  private List<RunEvent> advance(
      final Transition transition, final Picture picture, final Supplier<Counts> counts) {
    state.save(connector, transition.state());
    final Picture before = last == null ? picture : last;
    last = picture;
    if (transition.emissions().isEmpty()) {
      return List.of();
    }
    final Counts now = counts.get();
    return transition.emissions().stream()
        .map(emission -> event(emission, emission.isOfPast() ? before : picture, now))
        .toList();
  }

  private RunEvent event(final Emission emission, final Picture picture, final Counts counts) {
    final boolean isStart = emission.type() == EventType.START;
    final Counts window = isStart ? null : counts.since(countsTold);
    if (!isStart) {
      countsTold = counts;
    }
    lastTold = picture;
    return new RunEvent(
        emission.type(),
        Instant.ofEpochMilli(emission.time()),
        RunIds.of(cluster, connector, emission.generation()),
        picture.settings().jobNamespace(),
        picture.view(),
        picture.description(),
        emission.reason(),
        emission.isPeriodic(),
        picture.status(),
        window,
        picture.settings().interval());
  }
}
