// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import dev.lineagelab.connect.model.ObservedTopic;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Observations of each topic, by connector: the latest first, followed by those of other schemas
 * that the topic has.
 */
final class TopicObservations {
  /** Maximum number of schemas of a topic; the least recently observed are dropped. */
  private static final int MAX_SCHEMAS = 16;

  private final Map<String, Map<String, List<TopicObservation>>> byConnector = new HashMap<>();
  private final Map<String, Long> versions = new HashMap<>();

  /** Observed topics of a connector, once per schema. */
  List<ObservedTopic> topics(final String connector) {
    return all(connector).map(TopicObservation::topic).toList();
  }

  /** Counter that increases whenever {@link #topics} changes. */
  long version(final String connector) {
    return versions.getOrDefault(connector, 0L);
  }

  /** Observations of a topic; empty if there are none. */
  List<TopicObservation> of(final String connector, final String topic) {
    return of(connector).getOrDefault(topic, List.of());
  }

  /** Set the observations of a topic; an empty list removes it. */
  void put(final String connector, final String topic, final List<TopicObservation> observations) {
    final Map<String, List<TopicObservation>> known =
        byConnector.computeIfAbsent(connector, name -> new TreeMap<>());
    if (observations.isEmpty()) {
      known.remove(topic);
    } else {
      known.put(topic, List.copyOf(observations));
    }
    versions.merge(connector, 1L, Long::sum);
  }

  /** Merge an observation of this worker; return whether anything but its time has changed. */
  boolean merge(final String connector, final TopicObservation observation) {
    final String topic = observation.topic().topic();
    final List<TopicObservation> known = of(connector, topic);
    final List<TopicObservation> merged = merged(known, observation);
    if (Set.copyOf(encoded(known)).equals(Set.copyOf(encoded(merged)))) {
      byConnector.get(connector).put(topic, merged);
      return false;
    }
    put(connector, topic, merged);
    return true;
  }

  private static List<String> encoded(final List<TopicObservation> observations) {
    return observations.stream().map(one -> StateCodec.encode(List.of(one))).toList();
  }

  private static List<TopicObservation> merged(
      final List<TopicObservation> known, final TopicObservation observation) {
    final TopicObservation latest =
        known.isEmpty() ? observation : completed(known.get(0), observation);
    final List<TopicObservation> merged = new ArrayList<>(List.of(latest));
    known.stream().filter(older -> belongsBeside(older, latest)).forEach(merged::add);
    return List.copyOf(merged.subList(0, Math.min(merged.size(), MAX_SCHEMAS)));
  }

  /** Return whether a topic keeps an older schema: of another type, or one that alternates. */
  private static boolean belongsBeside(final TopicObservation older, final TopicObservation newer) {
    final boolean isSame =
        SchemaCodec.encode(older.topic().valueSchema())
            .equals(SchemaCodec.encode(newer.topic().valueSchema()));
    return !isSame
        && older.topic().valueSchema() != null
        && (older.isAlternating()
            || newer.isAlternating()
            || !Objects.equals(older.typeName(), newer.typeName()));
  }

  /** Tombstones have no schema and must not hide the one of earlier records. */
  private static TopicObservation completed(
      final TopicObservation known, final TopicObservation observation) {
    final ObservedTopic older = known.topic();
    final ObservedTopic newer = observation.topic();
    return new TopicObservation(
        new ObservedTopic(
            newer.topic(),
            newer.keySchema() == null ? older.keySchema() : newer.keySchema(),
            newer.valueSchema() == null ? older.valueSchema() : newer.valueSchema(),
            newer.alias() == null ? older.alias() : newer.alias()),
        observation.since(),
        observation.isAlternating() || newer.valueSchema() == null && known.isAlternating());
  }

  /** Return whether there are observations of transforms configured before {@code time}. */
  boolean hasBefore(final String connector, final long time) {
    return all(connector).anyMatch(observation -> observation.since() < time);
  }

  /** Time of the latest observation of a connector; 0 if there is none. */
  long latestTime(final String connector) {
    return all(connector).mapToLong(TopicObservation::since).max().orElse(0);
  }

  /** Remove observations from before {@code time}; return the topics that have changed. */
  Set<String> removeBefore(final String connector, final long time) {
    return removeBefore(connector, of(connector).keySet(), time);
  }

  /** Remove observations of some topics from before {@code time}; return the changed ones. */
  Set<String> removeBefore(
      final String connector, final Collection<String> topics, final long time) {
    final Set<String> changed = topicsBefore(connector, time);
    changed.retainAll(Set.copyOf(topics));
    changed.forEach(topic -> put(connector, topic, since(connector, topic, time)));
    return changed;
  }

  /** Clear the schemas of observations from before {@code time}; return the changed topics. */
  Set<String> clearSchemasBefore(final String connector, final long time) {
    final Set<String> changed = topicsBefore(connector, time);
    for (final String topic : changed) {
      final List<TopicObservation> kept = since(connector, topic, time);
      final TopicObservation withoutSchemas =
          new TopicObservation(
              new ObservedTopic(topic, null, null, null), of(connector, topic).get(0).since());
      put(connector, topic, kept.isEmpty() ? List.of(withoutSchemas) : kept);
    }
    return changed;
  }

  private List<TopicObservation> since(
      final String connector, final String topic, final long time) {
    return of(connector, topic).stream().filter(seen -> seen.since() >= time).toList();
  }

  private Set<String> topicsBefore(final String connector, final long time) {
    return all(connector)
        .filter(observation -> observation.since() < time)
        .map(observation -> observation.topic().topic())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private Stream<TopicObservation> all(final String connector) {
    return of(connector).values().stream().flatMap(List::stream);
  }

  private Map<String, List<TopicObservation>> of(final String connector) {
    return byConnector.getOrDefault(connector, Map.of());
  }
}
