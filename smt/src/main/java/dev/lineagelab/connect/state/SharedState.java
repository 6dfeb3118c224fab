// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.lineagelab.connect.metrics.RecordCounts;
import dev.lineagelab.connect.model.ObservedTopic;
import dev.lineagelab.connect.runs.RunState;
import dev.lineagelab.connect.settings.StateSettings;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** State of connectors and runs shared by the workers of a group. Not thread-safe. */
public final class SharedState implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SharedState.class);

  /** Milliseconds between stored heartbeats of a run. */
  private static final long HEARTBEAT_MS = 300_000;

  /** Time of observations that were written before this worker read the log. */
  private static final long BEFORE_START = 0;

  private final StateLog log;
  private final String group;
  private final String worker;
  private final Map<String, RunState> runs = new TreeMap<>();

  /** Runs as the log has them, in which only some of the heartbeats are. */
  private final Map<String, RunState> storedRuns = new HashMap<>();

  private final TopicObservations observations = new TopicObservations();
  private final Map<String, WorkerCounts> counts = new TreeMap<>();
  private final Set<StateKey> outdatedKeys = new HashSet<>();
  private final TerminalEvents terminalEvents = new TerminalEvents();
  private final Map<String, String> lastEvents = new HashMap<>();

  SharedState(final StateLog log, final String group, final String worker) {
    this.log = log;
    this.group = group;
    this.worker = worker;
  }

  /**
   * Open and read the state. If access to the topic is denied, log a warning and hold the state in
   * memory.
   *
   * @param worker unique id of this plugin instance
   * @throws KafkaException Kafka did not respond or not with the whole state; the call may be
   *     retried
   */
  public static SharedState open(
      final StateSettings settings, final String group, final String worker) {
    StateLog log = new InMemoryStateLog();
    if (settings.isDurable()) {
      try {
        log = new KafkaStateLog(settings, worker);
      } catch (final KafkaException e) {
        if (isRetriable(e)) {
          throw e;
        }
        LOG.warn(
            "Cannot use state topic {}; the state of runs is held in memory: no terminal event is"
                + " sent when this worker stops, and workers do not share observed schemas. Allow"
                + " the worker's user to create, read and write the topic, or create it with"
                + " cleanup.policy=compact. {}",
            settings.topic(),
            e.toString());
      }
    }
    final SharedState state = new SharedState(log, group, worker);
    if (!state.catchUp()) {
      state.close();
      throw new org.apache.kafka.common.errors.TimeoutException(
          "topic " + settings.topic() + " could not be read to its end");
    }
    return state;
  }

  private static boolean isRetriable(final Throwable failure) {
    return failure instanceof RetriableException
        || failure instanceof TimeoutException
        || failure.getCause() != null && isRetriable(failure.getCause());
  }

  /** Return whether the state survives this worker. */
  public boolean isDurable() {
    return log.isDurable();
  }

  /** Read the records of other workers that are available without blocking. */
  public void poll() {
    log.poll((key, value) -> read(key, value, System.currentTimeMillis()));
  }

  /**
   * Read everything that other workers have written so far.
   *
   * @return false if not all of it could be read
   */
  public boolean catchUp() {
    return log.catchUp((key, value) -> read(key, value, BEFORE_START));
  }

  /** Wait until all saved state is stored, or has failed. */
  public void flush() {
    log.flush();
  }

  private void read(final String text, final String value, final long time) {
    final StateKey key = StateKey.decode(text);
    if (key == null || !key.group().equals(group)) {
      return;
    }
    try {
      apply(key, value, time);
    } catch (final JsonProcessingException | RuntimeException e) {
      LOG.warn("Cannot read lineage state {}, skipping it: {}", text, e.toString());
    }
  }

  private void apply(final StateKey key, final String value, final long time)
      throws JsonProcessingException {
    final String connector = key.connector();
    switch (key.kind()) {
      case StateKey.RUN -> applyRun(connector, value == null ? null : StateCodec.decodeRun(value));
      case StateKey.TERMINAL -> applyTerminal(connector, Long.parseLong(key.detail()), value);
      case StateKey.EVENT -> put(lastEvents, connector, value);
      case StateKey.COUNTS -> applyCounts(key, value);
      case StateKey.TOPIC ->
          observations.put(
              connector,
              key.detail(),
              value == null ? List.of() : StateCodec.decodeObservations(key.detail(), value, time));
      default -> LOG.debug("Skipping lineage state of an unknown, newer kind: {}", key);
    }
  }

  /** Apply a run unless its writer is a zombie, which has missed that the run was ended. */
  private void applyRun(final String connector, final RunState run) {
    final RunState known = storedRuns.get(connector);
    if (run != null && known != null && !run.isAtLeast(known)) {
      LOG.warn(
          "Rejecting lineage state of connector {} from a worker that was suspended", connector);
      append(StateKey.RUN, connector, "", StateCodec.encode(known));
    } else {
      put(runs, connector, run);
      put(storedRuns, connector, run);
    }
  }

  private void applyTerminal(final String connector, final long generation, final String json) {
    if (json == null) {
      terminalEvents.remove(connector, generation);
    } else {
      terminalEvents.put(new TerminalEvent(connector, generation, json));
    }
  }

  /** Apply counts; those of a single connector are of an earlier version, to be removed. */
  private void applyCounts(final StateKey key, final String value) throws JsonProcessingException {
    if (key.connector().isEmpty()) {
      put(counts, key.detail(), value == null ? null : StateCodec.decodeCounts(value));
    } else if (value != null) {
      outdatedKeys.add(key);
    } else {
      outdatedKeys.remove(key);
    }
  }

  private static <V> void put(final Map<String, V> map, final String key, final V value) {
    if (value == null) {
      map.remove(key);
    } else {
      map.put(key, value);
    }
  }

  private void append(
      final String kind, final String connector, final String detail, final String value) {
    log.append(new StateKey(kind, group, connector, detail).encode(), value);
  }

  /** State of a connector's latest run. */
  public RunState run(final String connector) {
    return terminalEvents.ended(connector, runs.getOrDefault(connector, RunState.INITIAL));
  }

  /**
   * State of a connector's latest run as all workers know it, possibly without later heartbeats.
   */
  public RunState storedRun(final String connector) {
    return terminalEvents.ended(connector, storedRuns.getOrDefault(connector, RunState.INITIAL));
  }

  /** Connectors with an open run. */
  public Set<String> openRuns() {
    final Set<String> open = new TreeSet<>();
    for (final String connector : runs.keySet()) {
      if (run(connector).phase().isOpen()) {
        open.add(connector);
      }
    }
    return open;
  }

  /** Store the state of a connector's latest run; heartbeats only every few minutes. */
  public void saveRun(final String connector, final RunState run) {
    runs.put(connector, run);
    final RunState stored = storedRuns.getOrDefault(connector, RunState.INITIAL);
    if (run.differsInTimeOnly(stored) && run.lastEvent() - stored.lastEvent() < HEARTBEAT_MS) {
      return;
    }
    storedRuns.put(connector, run);
    append(StateKey.RUN, connector, "", StateCodec.encode(run));
  }

  /** Store a terminal event until {@link #removeTerminal}. To be called before the run is ended. */
  public void saveTerminal(final TerminalEvent event) {
    terminalEvents.put(event);
    append(StateKey.TERMINAL, event.connector(), Long.toString(event.generation()), event.json());
  }

  /** Remove a terminal event that is accepted. */
  public void removeTerminal(final TerminalEvent event) {
    final RunState run = run(event.connector());
    if (terminalEvents.remove(event.connector(), event.generation())) {
      saveRun(event.connector(), run);
      append(StateKey.TERMINAL, event.connector(), Long.toString(event.generation()), null);
    }
  }

  /** Terminal event of a run; empty if there is none, or it is accepted. */
  public Optional<TerminalEvent> terminalEvent(final String connector, final long generation) {
    return terminalEvents.get(connector, generation);
  }

  /** Terminal events that are not accepted yet, of all workers. */
  public List<TerminalEvent> terminalEvents() {
    return terminalEvents.all();
  }

  /** Topics of a connector that its tasks observed, on all workers. */
  public List<ObservedTopic> topics(final String connector) {
    return observations.topics(connector);
  }

  /** Counter that increases whenever {@link #topics} changes. */
  public long topicsVersion(final String connector) {
    return observations.version(connector);
  }

  /** Store an observation unless it is known already. */
  public void saveObservation(final String connector, final TopicObservation observation) {
    if (observations.merge(connector, observation)) {
      appendTopic(connector, observation.topic().topic());
    }
  }

  private void appendTopic(final String connector, final String topic) {
    final List<TopicObservation> known = observations.of(connector, topic);
    append(StateKey.TOPIC, connector, topic, known.isEmpty() ? null : StateCodec.encode(known));
  }

  /** Return whether there are observations of transforms configured before {@code time}. */
  public boolean hasObservationsBefore(final String connector, final long time) {
    return observations.hasBefore(connector, time);
  }

  /** Time of the connector's latest observation; 0 if there is none. */
  public long latestObservationTime(final String connector) {
    return observations.latestTime(connector);
  }

  /** Clear the schemas, but not the topics, of observations from before {@code time}. */
  public void clearSchemasBefore(final String connector, final long time) {
    observations
        .clearSchemasBefore(connector, time)
        .forEach(topic -> appendTopic(connector, topic));
  }

  /** Remove observations from before {@code time}. */
  public void removeObservationsBefore(final String connector, final long time) {
    observations.removeBefore(connector, time).forEach(topic -> appendTopic(connector, topic));
  }

  /** Remove observations of some topics from before {@code time}. */
  public void removeObservationsBefore(
      final String connector, final Collection<String> topics, final long time) {
    observations
        .removeBefore(connector, topics, time)
        .forEach(topic -> appendTopic(connector, topic));
  }

  /**
   * Remove all state of a connector but its run, from which the next generation is derived, and its
   * terminal events.
   */
  public void remove(final String connector) {
    removeObservationsBefore(connector, Long.MAX_VALUE);
    counts.replaceAll((other, known) -> known.without(connector));
    if (lastEvents.remove(connector) != null) {
      append(StateKey.EVENT, connector, "", null);
    }
  }

  /** Records that a connector's tasks on other workers have processed. */
  public RecordCounts countsOfOtherWorkers(final String connector) {
    return counts.entrySet().stream()
        .filter(entry -> !entry.getKey().equals(worker))
        .map(entry -> entry.getValue().of(connector))
        .reduce(RecordCounts.NONE, RecordCounts::plus);
  }

  /**
   * Store the records that the tasks on this worker have processed, by connector, and remove those
   * of workers that no longer exist.
   *
   * @param now in milliseconds since the epoch
   */
  public void saveCounts(final Map<String, RecordCounts> own, final long now) {
    final WorkerCounts current = new WorkerCounts(now, own);
    if (current.isDueAfter(counts.getOrDefault(worker, new WorkerCounts(now, Map.of())))) {
      counts.put(worker, current);
      append(StateKey.COUNTS, "", worker, StateCodec.encode(current));
    }
    outdatedKeys.forEach(key -> log.append(key.encode(), null));
    outdatedKeys.clear();
    for (final String other : Set.copyOf(counts.keySet())) {
      if (!other.equals(worker) && counts.get(other).isExpired(now)) {
        counts.remove(other);
        append(StateKey.COUNTS, "", other, null);
      }
    }
  }

  /** Last event of a connector as JSON; empty if none is stored. */
  public Optional<String> lastEvent(final String connector) {
    return Optional.ofNullable(lastEvents.get(connector));
  }

  /** Store the last event of a connector, for any worker to end an orphaned run with. */
  public void saveLastEvent(final String connector, final String json) {
    lastEvents.put(connector, json);
    append(StateKey.EVENT, connector, "", json);
  }

  @Override
  public void close() {
    log.close();
  }
}
