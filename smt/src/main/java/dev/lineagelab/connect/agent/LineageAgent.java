// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.cluster.ConnectCluster;
import dev.lineagelab.connect.cluster.ConnectorSnapshot;
import dev.lineagelab.connect.cluster.JmxConnectCluster;
import dev.lineagelab.connect.events.RunEvent;
import dev.lineagelab.connect.metrics.ConnectMetrics;
import dev.lineagelab.connect.metrics.RecordCounts;
import dev.lineagelab.connect.metrics.WorkerTasks;
import dev.lineagelab.connect.registry.ServiceLookups;
import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.state.SharedState;
import dev.lineagelab.connect.state.TopicObservation;
import dev.lineagelab.connect.tasks.RecordTotals;
import dev.lineagelab.connect.tasks.TaskId;
import dev.lineagelab.connect.tasks.TaskObservation;
import dev.lineagelab.connect.tasks.TaskObservations;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tracks all connectors of a cluster. {@link #poll} is called repeatedly by one thread. */
final class LineageAgent {
  private static final Logger LOG = LoggerFactory.getLogger(LineageAgent.class);

  /** Milliseconds within which the leader of a deleted connector ends the run itself. */
  private static final long ORPHAN_GRACE_MS = 10_000;

  /** Milliseconds between two polls after which other workers may have taken over. */
  private static final long SUSPENDED_MS = 10_000;

  private final ConnectCluster cluster;
  private final SharedState state;
  private final AgentContext context;
  private final ConnectorSettings settings;
  private final TaskObservations observations;
  private final RecordTotals totals;
  private final ServiceLookups lookups;
  private final EventSender sender;
  private final Map<String, ConnectorTracker> trackers = new TreeMap<>();
  private final Map<String, Long> orphans = new TreeMap<>();
  private final ShortLivedConnectors shortLived;
  private final Set<String> recreated = new TreeSet<>();
  private final Set<String> failing = new TreeSet<>();
  private final Object lock = new Object();
  private WorkerTasks tasks;
  private long countsSavedAt;
  private long polledAt;
  private boolean isClosed;

  LineageAgent(final ConnectCluster cluster, final SharedState state, final AgentContext context) {
    this.cluster = cluster;
    this.state = state;
    this.context = context;
    this.settings = context.settings();
    this.observations = context.observations();
    this.totals = context.totals();
    this.sender = new EventSender(state);
    this.shortLived = new ShortLivedConnectors(observations, state);
    this.lookups = new ServiceLookups(settings.ofWorker().registry().requestsPerMinute());
  }

  /**
   * Poll all connectors once and send the events that are due. Reading the snapshots may take long
   * and does not hold the lock that {@link #close} needs.
   *
   * @param now in milliseconds since the epoch
   */
  void poll(final long now) throws ConnectCluster.UnavailableException {
    final Map<String, ConnectorSnapshot> snapshots = cluster.snapshots();
    synchronized (lock) {
      if (isClosed) {
        return;
      }
      readState(now);
      saveObservations();
      tasks = null;
      saveCounts(snapshots.keySet(), now);
      recreated.addAll(cluster.takeRecreated());
      snapshots.forEach((name, snapshot) -> isolated(name, () -> track(name, snapshot, now)));
      for (final String name : new TreeSet<>(trackers.keySet())) {
        if (!snapshots.containsKey(name)) {
          isolated(name, () -> trackAbsent(name, now));
        }
      }
      trackShortLived(snapshots.keySet(), now);
      endOrphans(snapshots.keySet(), now);
      sender.takeOver(
          name -> isResponsible(name, snapshots.get(name)),
          name -> settingsOf(snapshots.get(name)),
          now);
      sender.send();
    }
  }

  /** Read what other workers have written: all of it if this one may have been suspended. */
  private void readState(final long now) {
    if (polledAt > 0 && now - polledAt > SUSPENDED_MS) {
      state.catchUp();
    } else {
      state.poll();
    }
    polledAt = now;
  }

  /**
   * Return whether this worker leads a connector; all workers are responsible for one that is gone.
   */
  private boolean isResponsible(final String name, final ConnectorSnapshot snapshot) {
    return snapshot == null || cluster.isLeaderFor(name, snapshot.status());
  }

  private PluginSettings settingsOf(final ConnectorSnapshot snapshot) {
    return snapshot == null ? settings.ofWorker() : settings.of(snapshot.definition());
  }

  /** Run an action so that its failure does not affect other connectors. */
  private void isolated(final String connector, final Runnable action) {
    try {
      action.run();
      failing.remove(connector);
    } catch (final RuntimeException | StackOverflowError e) {
      if (failing.add(connector)) {
        LOG.error(
            "Cannot process the lineage of connector {}, retrying; its records are not affected",
            connector,
            e);
      }
    }
  }

  private void saveObservations() {
    for (final TaskObservation observation : observations.drain()) {
      final long since = observation.observer().configuredAt();
      state.saveObservation(
          observation.connector(),
          new TopicObservation(observation.topic(), since, observation.isAlternating()));
      shortLived.add(observation.connector(), since);
    }
  }

  /** Share this worker's counts of connectors led by other workers, once per interval. */
  private void saveCounts(final Set<String> connectors, final long now) {
    if (now - countsSavedAt < settings.ofWorker().eventInterval().toMillis()) {
      return;
    }
    countsSavedAt = now;
    final Map<String, RecordCounts> counts = new TreeMap<>();
    for (final String connector : connectors) {
      if (!trackers.containsKey(connector)) {
        final RecordCounts own = ownCounts(connector);
        if (!own.equals(RecordCounts.NONE)) {
          counts.put(connector, own);
        }
      }
    }
    state.saveCounts(counts, now);
  }

  private RecordCounts ownCounts(final String connector) {
    if (tasks == null) {
      tasks = ConnectMetrics.tasks();
    }
    tasks
        .counts(connector)
        .forEach((task, counts) -> totals.update(new TaskId(connector, task), counts));
    return totals.total(connector);
  }

  /** Counts that events have reported already: all of an open run, none before a run starts. */
  private RecordCounts reportedCounts(final String connector) {
    final boolean isTakenOver = state.run(connector).phase().isOpen();
    return isTakenOver && ConnectMetrics.isPublished() ? allCounts(connector) : RecordCounts.NONE;
  }

  /** Records of a connector on all workers; null if they are not known. */
  private RecordCounts allCounts(final String connector) {
    if (!ConnectMetrics.isPublished()) {
      return null;
    }
    return ownCounts(connector).plus(state.countsOfOtherWorkers(connector));
  }

  private void track(final String name, final ConnectorSnapshot snapshot, final long now) {
    final PluginSettings own = settings.of(snapshot.definition());
    final boolean isIncluded =
        own.enabled() && (snapshot.hasTransform() || own.includesUntransformed());
    final boolean isRecreated = recreated.remove(name);
    if (!cluster.isLeaderFor(name, snapshot.status())) {
      trackers.remove(name);
      return;
    }
    if (!trackers.containsKey(name) && !state.catchUp()) {
      // The run may have been continued by another worker: retried at the next poll.
      return;
    }
    if (isIncluded || trackers.containsKey(name)) {
      send(tracker(name).poll(snapshot, own, isRecreated, () -> allCounts(name), now));
    }
  }

  private ConnectorTracker tracker(final String name) {
    return trackers.computeIfAbsent(
        name,
        connector ->
            new ConnectorTracker(
                connector,
                cluster.id(),
                new LineageCache(context.extractor(), lookups, state),
                state,
                reportedCounts(connector)));
  }

  private void trackAbsent(final String name, final long now) {
    final ConnectorTracker tracker = trackers.get(name);
    send(tracker.pollAbsent(() -> allCounts(name), now));
    if (tracker.isDone()) {
      trackers.remove(name);
      totals.remove(name);
      state.remove(name);
    }
  }

  /** Start runs of connectors that ended unpolled; the next polls end them as absent ones. */
  private void trackShortLived(final Set<String> present, final long now) {
    final Set<String> known = new TreeSet<>(present);
    known.addAll(trackers.keySet());
    for (final String name : shortLived.takeEnded(known)) {
      state.catchUp();
      final ConnectorSnapshot snapshot = JmxConnectCluster.endedSnapshot(observations, name);
      final PluginSettings own = settings.of(snapshot.definition());
      if (own.enabled()) {
        isolated(
            name, () -> send(tracker(name).poll(snapshot, own, false, () -> allCounts(name), now)));
      }
    }
  }

  /**
   * End runs of connectors that were deleted while no worker led them. All workers send the same
   * event byte for byte, because it is derived from shared state only; the service deduplicates it.
   */
  private void endOrphans(final Set<String> present, final long now) {
    orphans.keySet().retainAll(state.openRuns());
    orphans.keySet().removeAll(present);
    for (final String name : state.openRuns()) {
      if (present.contains(name) || trackers.containsKey(name)) {
        continue;
      }
      if (now - orphans.computeIfAbsent(name, unused -> now) >= ORPHAN_GRACE_MS) {
        if (state.catchUp() && state.openRuns().contains(name)) {
          OrphanedRun.end(name, state)
              .ifPresent(event -> sender.add(settings.ofWorker(), jobOf(name), event));
        }
      }
    }
  }

  private String jobOf(final String connector) {
    return settings.ofWorker().jobNamespace() + "/" + connector;
  }

  private void send(final List<RunEvent> events) {
    events.forEach(sender::add);
  }

  /** Send a final event of each run and all queued events, within the shutdown timeout. */
  void close(final long now) {
    synchronized (lock) {
      if (isClosed) {
        return;
      }
      isClosed = true;
      saveObservations();
      tasks = null;
      trackers.forEach(
          (name, tracker) -> isolated(name, () -> send(tracker.flush(() -> allCounts(name), now))));
      lookups.close();
      sender.close();
      state.close();
    }
  }
}
