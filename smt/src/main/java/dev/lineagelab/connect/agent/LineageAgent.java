// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.emit.OutgoingEvent;
import dev.lineagelab.connect.events.Counts;
import dev.lineagelab.connect.events.EventWriter;
import dev.lineagelab.connect.events.RunEvent;
import dev.lineagelab.connect.model.LineageExtractor;
import dev.lineagelab.connect.model.ObservedTopic;
import dev.lineagelab.connect.observe.Cluster;
import dev.lineagelab.connect.observe.ConnectMetrics;
import dev.lineagelab.connect.observe.ConnectorLook;
import dev.lineagelab.connect.observe.CountBook;
import dev.lineagelab.connect.observe.Observations;
import dev.lineagelab.connect.observe.TaskName;
import dev.lineagelab.connect.registry.SchemaVersionEnricher;
import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.state.Report;
import dev.lineagelab.connect.state.SharedState;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Follows all connectors of a worker. {@link #cycle} is called by one thread, over and over. */
final class LineageAgent {
  private static final Logger LOG = LoggerFactory.getLogger(LineageAgent.class);

  /** Milliseconds in which a worker that has spoken of a deleted connector says so itself. */
  private static final long ORPHAN_PATIENCE_MS = 10_000;

  private final Cluster cluster;
  private final ConnectorSettings settings;
  private final Observations observations;
  private final CountBook counts;
  private final SharedState state;
  private final LineageExtractor describer;
  private final SchemaVersionEnricher versions;
  private final Emitters emitters = new Emitters();
  private final Map<String, ConnectorTracker> trackers = new TreeMap<>();
  private final Map<String, Long> orphans = new TreeMap<>();
  private final BriefLives briefLives;
  private final Set<String> recreated = new TreeSet<>();
  private final Set<String> failing = new TreeSet<>();
  private final Object step = new Object();
  private long countedAt;
  private boolean isClosed;

  LineageAgent(
      final Cluster cluster,
      final ConnectorSettings settings,
      final Observations observations,
      final CountBook counts,
      final SharedState state,
      final LineageExtractor describer) {
    this.cluster = cluster;
    this.settings = settings;
    this.observations = observations;
    this.counts = counts;
    this.state = state;
    this.describer = describer;
    this.briefLives = new BriefLives(observations, state);
    this.versions = new SchemaVersionEnricher(settings.ofWorker().registry().requestsPerMinute());
  }

  /**
   * Looks once and sends what is due. The look may take long, and the worker may stop meanwhile:
   * only what follows it keeps {@link #close} waiting.
   *
   * @param now in milliseconds
   */
  void cycle(final long now) throws Cluster.UnavailableException {
    final Map<String, ConnectorLook> looks = cluster.look();
    synchronized (step) {
      if (isClosed) {
        return;
      }
      state.poll();
      takeObservations();
      count(looks.keySet(), now);
      recreated.addAll(cluster.recreated());
      looks.forEach((name, look) -> safely(name, () -> follow(name, look, now)));
      for (final String name : new TreeSet<>(trackers.keySet())) {
        if (!looks.containsKey(name)) {
          safely(name, () -> followAbsent(name, now));
        }
      }
      tellBriefLives(looks.keySet(), now);
      endOrphans(looks.keySet(), now);
    }
  }

  /** What goes wrong with one connector is no matter of the others. */
  private void safely(final String connector, final Runnable action) {
    try {
      action.run();
      failing.remove(connector);
    } catch (final RuntimeException | StackOverflowError e) {
      if (failing.add(connector)) {
        LOG.error("Lineage of connector {} is not told for now; it runs on", connector, e);
      }
    }
  }

  private void takeObservations() {
    for (final Observations.Taken taken : observations.take()) {
      final var sight = taken.sight();
      state.save(
          taken.connector(),
          new Report(
              new ObservedTopic(sight.topic(), sight.key(), sight.value(), null),
              taken.observer().configuredAt()));
      briefLives.saw(taken.connector(), taken.observer().configuredAt());
    }
  }

  /** Tells the others once per interval what this worker's tasks have carried. */
  private void count(final Set<String> connectors, final long now) {
    final boolean isDue = now - countedAt >= settings.ofWorker().interval().toMillis() / 2;
    if (!isDue) {
      return;
    }
    countedAt = now;
    for (final String connector : connectors) {
      final Counts own = ownCounts(connector);
      if (!own.equals(Counts.NONE) && !trackers.containsKey(connector)) {
        state.save(connector, own);
      }
    }
  }

  private Counts ownCounts(final String connector) {
    ConnectMetrics.counts(connector)
        .forEach((task, totals) -> counts.see(new TaskName(connector, task), totals));
    return counts.total(connector);
  }

  /**
   * What was told already: nothing of a run that is still to begin, however fast its tasks were.
   */
  private Counts countsBefore(final String connector) {
    final boolean isTakenOver = state.run(connector).phase().isOpen();
    return isTakenOver ? allCounts(connector) : Counts.NONE;
  }

  private Counts allCounts(final String connector) {
    return ownCounts(connector).plus(state.countsElsewhere(connector));
  }

  private void follow(final String name, final ConnectorLook look, final long now) {
    final PluginSettings own = settings.of(look.view());
    final boolean isTold = own.enabled() && (look.hasTransform() || own.untransformed());
    final boolean isAnew = recreated.remove(name);
    if (!cluster.speaksFor(name, look.status())) {
      trackers.remove(name);
      return;
    }
    if (isTold || trackers.containsKey(name)) {
      send(tracker(name).step(look, own, isAnew, () -> allCounts(name), now));
    }
  }

  private ConnectorTracker tracker(final String name) {
    return trackers.computeIfAbsent(
        name,
        connector -> {
          // Another worker may have spoken of it until now.
          state.catchUp();
          return new ConnectorTracker(
              connector, cluster.id(), describer, versions, state, countsBefore(connector));
        });
  }

  private void followAbsent(final String name, final long now) {
    final ConnectorTracker tracker = trackers.get(name);
    send(tracker.stepAbsent(() -> allCounts(name), now));
    if (tracker.isDone()) {
      trackers.remove(name);
      counts.forget(name);
      state.forget(name);
    }
  }

  /** From now on they are followed as connectors that are not there any more, which ends them. */
  private void tellBriefLives(final Set<String> present, final long now) {
    final Set<String> known = new TreeSet<>(present);
    known.addAll(trackers.keySet());
    for (final String name : briefLives.ended(known)) {
      final ConnectorLook look = observations.remembered(name);
      final PluginSettings own = settings.of(look.view());
      if (own.enabled()) {
        safely(name, () -> send(tracker(name).step(look, own, false, () -> allCounts(name), now)));
      }
    }
  }

  /**
   * Ends runs of connectors that were deleted while nobody was there who had spoken of them. All
   * workers do, with the same event to the letter: it is made of what is kept, not of what is seen.
   */
  private void endOrphans(final Set<String> present, final long now) {
    orphans.keySet().retainAll(state.open());
    orphans.keySet().removeAll(present);
    for (final String name : state.open()) {
      if (present.contains(name) || trackers.containsKey(name)) {
        continue;
      }
      if (now - orphans.computeIfAbsent(name, unused -> now) >= ORPHAN_PATIENCE_MS) {
        state.catchUp();
        if (state.open().contains(name)) {
          Orphan.end(name, state).ifPresent(event -> emitters.of(settings.ofWorker()).emit(event));
        }
      }
    }
  }

  private void send(final List<RunEvent> events) {
    for (final RunEvent event : events) {
      final String json = EventWriter.write(event);
      final String job = event.jobNamespace() + "/" + event.connector().name();
      emitters.of(settings.of(event.connector())).emit(new OutgoingEvent(job, json));
      if (!event.isPeriodic()) {
        LOG.info(
            "{} of run {} of connector {}: {}",
            event.type(),
            event.runId(),
            event.connector().name(),
            event.reason());
        if (!event.type().isTerminal()) {
          state.saveEvent(event.connector().name(), json);
        }
      }
    }
  }

  /** Sends a last word of each run, and all that waits, within the limits of the settings. */
  void close(final long now) {
    synchronized (step) {
      if (isClosed) {
        return;
      }
      isClosed = true;
      takeObservations();
      trackers.forEach(
          (name, tracker) -> safely(name, () -> send(tracker.flush(() -> allCounts(name), now))));
      versions.close();
      emitters.close();
      state.close();
    }
  }
}
