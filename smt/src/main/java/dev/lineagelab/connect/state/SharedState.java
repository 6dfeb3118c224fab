// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.lineagelab.connect.metrics.RecordCounts;
import dev.lineagelab.connect.model.ObservedTopic;
import dev.lineagelab.connect.runs.RunState;
import dev.lineagelab.connect.settings.StateSettings;
import java.util.Collection;
import java.util.HashMap;
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

  /** Time of observations that were written before this worker read the log. */
  private static final long BEFORE_START = 0;

  private final StateLog log;
  private final String group;
  private final String worker;
  private final Map<String, RunState> runs = new TreeMap<>();
  private final TopicObservations observations = new TopicObservations();
  private final Map<String, Map<String, RecordCounts>> counts = new HashMap<>();
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
   * @throws KafkaException Kafka did not respond; the call may be retried
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
            "Cannot use state topic {}; the state of runs is held in memory: no terminal event is sent"
                + " when this worker stops, and workers do not share observed schemas. Allow the"
                + " worker's user to create, read and write the topic, or create it with"
                + " cleanup.policy=compact. {}",
            settings.topic(),
            e.toString());
      }
    }
    final SharedState state = new SharedState(log, group, worker);
    state.catchUp();
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

  /** Read everything that other workers have written so far. */
  public void catchUp() {
    log.catchUp((key, value) -> read(key, value, BEFORE_START));
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
      case StateKey.RUN -> put(runs, connector, value == null ? null : StateCodec.decodeRun(value));
      case StateKey.EVENT -> put(lastEvents, connector, value);
      case StateKey.COUNTS ->
          put(
              of(counts, connector),
              key.detail(),
              value == null ? null : StateCodec.decodeCounts(value));
      case StateKey.TOPIC ->
          observations.put(
              connector,
              key.detail(),
              value == null ? List.of() : StateCodec.decodeObservations(key.detail(), value, time));
      default -> LOG.debug("Skipping lineage state of an unknown, newer kind: {}", key);
    }
  }

  private static <V> void put(final Map<String, V> map, final String key, final V value) {
    if (value == null) {
      map.remove(key);
    } else {
      map.put(key, value);
    }
  }

  private static <V> Map<String, V> of(final Map<String, Map<String, V>> all, final String key) {
    return all.computeIfAbsent(key, unused -> new TreeMap<>());
  }

  private void append(
      final String kind, final String connector, final String detail, final String value) {
    log.append(new StateKey(kind, group, connector, detail).encode(), value);
  }

  /** State of a connector's latest run. */
  public RunState run(final String connector) {
    return runs.getOrDefault(connector, RunState.INITIAL);
  }

  /** Connectors with an open run. */
  public Set<String> openRuns() {
    final Set<String> open = new TreeSet<>();
    runs.forEach(
        (connector, run) -> {
          if (run.phase().isOpen()) {
            open.add(connector);
          }
        });
    return open;
  }

  /** Store the state of a connector's latest run. */
  public void saveRun(final String connector, final RunState run) {
    if (!run.equals(runs.put(connector, run))) {
      append(StateKey.RUN, connector, "", StateCodec.encode(run));
    }
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

  /** Remove all state of a connector but its run, from which the next generation is derived. */
  public void remove(final String connector) {
    removeObservationsBefore(connector, Long.MAX_VALUE);
    for (final String other : Set.copyOf(of(counts, connector).keySet())) {
      of(counts, connector).remove(other);
      append(StateKey.COUNTS, connector, other, null);
    }
    if (lastEvents.remove(connector) != null) {
      append(StateKey.EVENT, connector, "", null);
    }
  }

  /** Records that a connector's tasks on other workers have processed. */
  public RecordCounts countsOfOtherWorkers(final String connector) {
    return counts.getOrDefault(connector, Map.of()).entrySet().stream()
        .filter(entry -> !entry.getKey().equals(worker))
        .map(Map.Entry::getValue)
        .reduce(RecordCounts.NONE, RecordCounts::plus);
  }

  /** Store the records that a connector's tasks on this worker have processed. */
  public void saveCounts(final String connector, final RecordCounts own) {
    if (!own.equals(of(counts, connector).put(worker, own))) {
      append(StateKey.COUNTS, connector, worker, StateCodec.encode(own));
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
