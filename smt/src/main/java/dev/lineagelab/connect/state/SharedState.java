// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import com.fasterxml.jackson.core.JsonProcessingException;
import dev.lineagelab.connect.events.Counts;
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

/** What the workers of a group know together. Not safe for several threads at once. */
public final class SharedState implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SharedState.class);

  /** Arrival of what was written before anybody here looked. */
  private static final long OLD = 0;

  private final StateLog log;
  private final String group;
  private final String worker;
  private final Map<String, RunState> runs = new TreeMap<>();
  private final Reports reports = new Reports();
  private final Map<String, Map<String, Counts>> counts = new HashMap<>();
  private final Map<String, String> events = new HashMap<>();

  SharedState(final StateLog log, final String group, final String worker) {
    this.log = log;
    this.group = group;
    this.worker = worker;
  }

  /**
   * Opens what is kept, and reads it. Where the topic may not be used, what is known ends with the
   * worker; the log says so.
   *
   * @param worker names this worker's plugin among all that write
   * @throws KafkaException the cluster does not answer now: try again
   */
  public static SharedState open(
      final StateSettings settings, final String group, final String worker) {
    StateLog log = new MemoryLog();
    if (settings.isDurable()) {
      try {
        log = new KafkaLog(settings, worker);
      } catch (final KafkaException e) {
        if (isTemporary(e)) {
          throw e;
        }
        LOG.warn(
            "Runs are kept in memory only: they end unsaid with this worker, and workers do not see"
                + " one another's schemas. Allow the worker's user to make, read and write topic {},"
                + " or make it with cleanup.policy=compact. {}",
            settings.topic(),
            e.toString());
      }
    }
    final SharedState state = new SharedState(log, group, worker);
    state.catchUp();
    return state;
  }

  private static boolean isTemporary(final Throwable failure) {
    return failure instanceof RetriableException
        || failure instanceof TimeoutException
        || failure.getCause() != null && isTemporary(failure.getCause());
  }

  /** Whether it outlives the worker. */
  public boolean isDurable() {
    return log.isDurable();
  }

  /** Takes over what others have written, as far as it is here already. */
  public void poll() {
    log.poll((key, value) -> take(key, value, System.currentTimeMillis()));
  }

  /** Takes over all that others have written so far. */
  public void catchUp() {
    log.catchUp((key, value) -> take(key, value, OLD));
  }

  private void take(final String key, final String value, final long arrival) {
    final StateKey about = StateKey.decode(key);
    if (about == null || !about.group().equals(group)) {
      return;
    }
    try {
      apply(about, value, arrival);
    } catch (final JsonProcessingException | RuntimeException e) {
      LOG.warn("Lineage state {} cannot be read and is passed over: {}", key, e.toString());
    }
  }

  private void apply(final StateKey about, final String value, final long arrival)
      throws JsonProcessingException {
    final String connector = about.connector();
    switch (about.kind()) {
      case StateKey.RUN -> put(runs, connector, value == null ? null : FactCodec.decodeRun(value));
      case StateKey.EVENT -> put(events, connector, value);
      case StateKey.COUNTS ->
          put(
              of(counts, connector),
              about.detail(),
              value == null ? null : FactCodec.decodeCounts(value));
      case StateKey.TOPIC ->
          reports.put(
              connector,
              about.detail(),
              value == null ? null : FactCodec.decodeReport(about.detail(), value, arrival));
      default -> LOG.debug("Lineage state of a kind that a newer version wrote: {}", about);
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

  /** Where a connector's latest run stands. */
  public RunState run(final String connector) {
    return runs.getOrDefault(connector, RunState.INITIAL);
  }

  /** Connectors whose run goes on as far as is known. */
  public Set<String> open() {
    final Set<String> open = new TreeSet<>();
    runs.forEach(
        (connector, run) -> {
          if (run.phase().isOpen()) {
            open.add(connector);
          }
        });
    return open;
  }

  /** Keeps where a run stands. */
  public void save(final String connector, final RunState run) {
    if (!run.equals(runs.put(connector, run))) {
      append(StateKey.RUN, connector, "", FactCodec.encode(run));
    }
  }

  /** What was seen of a connector's topics, on all workers. */
  public List<ObservedTopic> topics(final String connector) {
    return reports.topics(connector);
  }

  /** Rises whenever {@link #topics} changes. */
  public long version(final String connector) {
    return reports.version(connector);
  }

  /** Keeps what a task saw of a topic, if it is news. */
  public void save(final String connector, final Report report) {
    reports.merge(connector, report).ifPresent(merged -> append(connector, merged));
  }

  private void append(final String connector, final Report report) {
    append(StateKey.TOPIC, connector, report.topic().topic(), FactCodec.encode(report));
  }

  /** Whether something is known that transforms of before a time saw. */
  public boolean hasBefore(final String connector, final long time) {
    return reports.hasBefore(connector, time);
  }

  /** When the youngest transform that saw anything was configured; 0 if none has. */
  public long newestReport(final String connector) {
    return reports.newest(connector);
  }

  /** Keeps the topics that transforms of before a time saw, without the schemas. */
  public void blankBefore(final String connector, final long time) {
    reports.blankBefore(connector, time).forEach(blank -> append(connector, blank));
  }

  /** Forgets what was seen by transforms of before a time. */
  public void forgetBefore(final String connector, final long time) {
    reports
        .forgetBefore(connector, time)
        .forEach(topic -> append(StateKey.TOPIC, connector, topic, null));
  }

  /** Forgets what of these topics was seen by transforms of before a time. */
  public void forgetBefore(
      final String connector, final Collection<String> topics, final long time) {
    reports
        .forgetBefore(connector, topics, time)
        .forEach(topic -> append(StateKey.TOPIC, connector, topic, null));
  }

  /**
   * Forgets all of a connector but where its last run stands, from which the next one is counted.
   */
  public void forget(final String connector) {
    forgetBefore(connector, Long.MAX_VALUE);
    for (final String other : Set.copyOf(of(counts, connector).keySet())) {
      of(counts, connector).remove(other);
      append(StateKey.COUNTS, connector, other, null);
    }
    if (events.remove(connector) != null) {
      append(StateKey.EVENT, connector, "", null);
    }
  }

  /** Records that other workers' tasks of a connector have carried so far. */
  public Counts countsElsewhere(final String connector) {
    return counts.getOrDefault(connector, Map.of()).entrySet().stream()
        .filter(entry -> !entry.getKey().equals(worker))
        .map(Map.Entry::getValue)
        .reduce(Counts.NONE, Counts::plus);
  }

  /** Keeps how many records this worker's tasks of a connector have carried so far. */
  public void save(final String connector, final Counts own) {
    if (!own.equals(of(counts, connector).put(worker, own))) {
      append(StateKey.COUNTS, connector, worker, FactCodec.encode(own));
    }
  }

  /** What the last event of a connector said. */
  public Optional<String> event(final String connector) {
    return Optional.ofNullable(events.get(connector));
  }

  /** Keeps what an event says, for whoever has to end the run without seeing its connector. */
  public void saveEvent(final String connector, final String json) {
    events.put(connector, json);
    append(StateKey.EVENT, connector, "", json);
  }

  @Override
  public void close() {
    log.close();
  }
}
