// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.cluster.ConnectorSnapshot;
import dev.lineagelab.connect.events.EventWriter;
import dev.lineagelab.connect.events.LineageSnapshot;
import dev.lineagelab.connect.events.RunEvent;
import dev.lineagelab.connect.metrics.RecordCounts;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.runs.AggregateState;
import dev.lineagelab.connect.runs.DueEvent;
import dev.lineagelab.connect.runs.EventType;
import dev.lineagelab.connect.runs.Fingerprint;
import dev.lineagelab.connect.runs.RunIds;
import dev.lineagelab.connect.runs.RunInput;
import dev.lineagelab.connect.runs.RunPhase;
import dev.lineagelab.connect.runs.RunState;
import dev.lineagelab.connect.runs.RunStateMachine;
import dev.lineagelab.connect.runs.StateDebouncer;
import dev.lineagelab.connect.runs.Transition;
import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.state.SharedState;
import dev.lineagelab.connect.state.TerminalEvent;
import java.util.List;
import java.util.function.Supplier;

/** Tracks the runs of one connector that this worker leads. */
final class ConnectorTracker {
  private final String connector;
  private final String clusterId;
  private final LineageCache lineage;
  private final SharedState state;
  private final ConfigChangeTracker configChange;
  private final StateDebouncer debouncer = new StateDebouncer();
  private LineageSnapshot last;
  private LineageSnapshot lastReported;
  private RecordCounts lastCounts;

  /**
   * Create a tracker.
   *
   * @param counts records that earlier events have reported already
   */
  ConnectorTracker(
      final String connector,
      final String clusterId,
      final LineageCache lineage,
      final SharedState state,
      final RecordCounts counts) {
    this.connector = connector;
    this.clusterId = clusterId;
    this.lineage = lineage;
    this.state = state;
    this.configChange = new ConfigChangeTracker(connector, state);
    this.lastCounts = counts;
  }

  /**
   * Process a poll that found the connector; return the events due.
   *
   * @param isRecreated whether it was deleted and created again since the last poll
   * @param counts records of the connector so far, or null; read only if an event is due
   */
  List<RunEvent> poll(
      final ConnectorSnapshot connectorSnapshot,
      final PluginSettings settings,
      final boolean isRecreated,
      final Supplier<RecordCounts> counts,
      final long now) {
    configChange.update(connectorSnapshot.definition(), isRecreated, settings.eventInterval(), now);
    final RunState run = state.run(connector);
    final String config = Fingerprint.ofConfig(connectorSnapshot.definition().config());
    final boolean isConfigChanged = configChange.isPending() || !config.equals(run.config());
    LineageSnapshot snapshot = snapshot(connectorSnapshot, settings);
    if (isConfigChanged && hasOtherDatasets(snapshot.lineage(), run) && configChange.settle()) {
      snapshot = snapshot(connectorSnapshot, settings);
    }
    final AggregateState observed = connectorSnapshot.status().aggregateState();
    final RunInput input =
        RunInput.of(
                stateOfRun(debouncer.update(observed), run),
                Fingerprint.ofDatasets(snapshot.lineage()),
                config,
                now)
            .recreated(isRecreated)
            .configChanged(isConfigChanged)
            .changed(snapshot.changeSince(lastReported).orElse(null))
            .heartbeatDue(now - run.lastEvent() >= settings.eventInterval().toMillis());
    final Transition transition = RunStateMachine.next(run, input);
    return isFenced(run, transition) ? List.of() : apply(transition, snapshot, counts);
  }

  /** Process a poll that did not find the connector. No event is due until that is debounced. */
  List<RunEvent> pollAbsent(final Supplier<RecordCounts> counts, final long now) {
    final RunState run = state.run(connector);
    final AggregateState current = stateOfRun(debouncer.update(AggregateState.ABSENT), run);
    if (last == null || current != AggregateState.ABSENT && current != AggregateState.RUNNING) {
      return List.of();
    }
    final LineageSnapshot snapshot = lastWithCurrentLineage();
    final Transition transition = RunStateMachine.next(run, unchanged(current, snapshot, now));
    return isFenced(run, transition) ? List.of() : apply(transition, snapshot, counts);
  }

  /** Final event before this worker stops; the run stays open for the next leader. */
  List<RunEvent> flush(final Supplier<RecordCounts> counts, final long now) {
    final RunState run = state.run(connector);
    if (last == null || !run.phase().isOpen()) {
      return List.of();
    }
    final LineageSnapshot snapshot = lastWithCurrentLineage();
    final RunInput input =
        unchanged(last.status().aggregateState(), snapshot, now).heartbeatDue(true);
    final Transition transition = RunStateMachine.next(run, input);
    final boolean isEnd = transition.events().stream().anyMatch(due -> due.type().isTerminal());
    return isEnd ? List.of() : apply(transition, snapshot, counts);
  }

  /** Return whether the connector was deleted and its run has ended. */
  boolean isDone() {
    return debouncer.accepted() == AggregateState.ABSENT && !state.run(connector).phase().isOpen();
  }

  /** Observed records show that a task has run, however briefly. */
  private AggregateState stateOfRun(final AggregateState accepted, final RunState run) {
    final boolean hasRun = state.latestObservationTime(connector) > run.lastEvent();
    return run.phase() == RunPhase.NONE && hasRun ? AggregateState.RUNNING : accepted;
  }

  private static RunInput unchanged(
      final AggregateState current, final LineageSnapshot snapshot, final long now) {
    return RunInput.of(
        current,
        Fingerprint.ofDatasets(snapshot.lineage()),
        Fingerprint.ofConfig(snapshot.connector().config()),
        now);
  }

  private static boolean hasOtherDatasets(final ConnectorLineage found, final RunState run) {
    return run.phase().isOpen() && !Fingerprint.ofDatasets(found).equals(run.datasets());
  }

  private LineageSnapshot snapshot(
      final ConnectorSnapshot snapshot, final PluginSettings settings) {
    return new LineageSnapshot(
        snapshot.definition(),
        snapshot.status(),
        lineage.get(snapshot.definition(), settings),
        settings);
  }

  private LineageSnapshot lastWithCurrentLineage() {
    return last.withLineage(lineage.get(last.connector(), last.settings()));
  }

  private List<RunEvent> apply(
      final Transition transition,
      final LineageSnapshot snapshot,
      final Supplier<RecordCounts> counts) {
    final LineageSnapshot previous = last == null ? snapshot : last;
    last = snapshot;
    final RecordCounts total = transition.events().isEmpty() ? null : counts.get();
    final List<RunEvent> events =
        transition.events().stream()
            .map(due -> event(due, due.usesPreviousSnapshot() ? previous : snapshot, total))
            .toList();
    // Stored first: a worker that is killed in between has not lost the end of the run.
    events.stream().filter(event -> event.due().type().isTerminal()).forEach(this::saveTerminal);
    state.saveRun(connector, transition.state());
    return events;
  }

  private void saveTerminal(final RunEvent event) {
    state.saveTerminal(
        new TerminalEvent(connector, event.due().generation(), EventWriter.write(event)));
  }

  /**
   * Return whether another worker has changed the run, which this one, suspended meanwhile, has not
   * read before.
   */
  private boolean isFenced(final RunState run, final Transition transition) {
    final boolean isChange = transition.events().stream().anyMatch(due -> !due.isPeriodic());
    return isChange && state.catchUp() && !state.run(connector).equals(run);
  }

  private RunEvent event(
      final DueEvent due, final LineageSnapshot snapshot, final RecordCounts total) {
    final boolean isStart = due.type() == EventType.START;
    final RecordCounts counts = isStart || total == null ? null : total.since(lastCounts);
    if (counts != null) {
      lastCounts = total;
    }
    lastReported = snapshot;
    return new RunEvent(due, RunIds.of(clusterId, connector, due.generation()), snapshot, counts);
  }
}
