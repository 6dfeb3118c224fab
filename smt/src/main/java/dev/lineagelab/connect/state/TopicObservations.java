// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import dev.lineagelab.connect.model.ObservedTopic;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Latest observation of each topic, by connector. */
final class TopicObservations {
  private final Map<String, Map<String, TopicObservation>> byConnector = new HashMap<>();
  private final Map<String, Long> versions = new HashMap<>();

  /** Observed topics of a connector. */
  List<ObservedTopic> topics(final String connector) {
    return of(connector).values().stream().map(TopicObservation::topic).toList();
  }

  /** Counter that increases whenever {@link #topics} changes. */
  long version(final String connector) {
    return versions.getOrDefault(connector, 0L);
  }

  /** Set the observation of a topic; null removes it. */
  void put(final String connector, final String topic, final TopicObservation observation) {
    final Map<String, TopicObservation> known =
        byConnector.computeIfAbsent(connector, name -> new TreeMap<>());
    if (observation == null) {
      known.remove(topic);
    } else {
      known.put(topic, observation);
    }
    versions.merge(connector, 1L, Long::sum);
  }

  /** Merge an observation of this worker; return the result if it differs from what is known. */
  Optional<TopicObservation> merge(final String connector, final TopicObservation observation) {
    final String topic = observation.topic().topic();
    final TopicObservation known = of(connector).get(topic);
    final TopicObservation merged = merged(known, observation);
    if (known != null && StateCodec.encode(known).equals(StateCodec.encode(merged))) {
      byConnector.get(connector).put(topic, merged);
      return Optional.empty();
    }
    put(connector, topic, merged);
    return Optional.of(merged);
  }

  /** Tombstones have no schema and must not hide the one of earlier records. */
  private static TopicObservation merged(
      final TopicObservation known, final TopicObservation observation) {
    if (known == null) {
      return observation;
    }
    final ObservedTopic older = known.topic();
    final ObservedTopic newer = observation.topic();
    return new TopicObservation(
        new ObservedTopic(
            newer.topic(),
            newer.keySchema() == null ? older.keySchema() : newer.keySchema(),
            newer.valueSchema() == null ? older.valueSchema() : newer.valueSchema(),
            newer.alias() == null ? older.alias() : newer.alias()),
        observation.since());
  }

  /** Return whether there are observations of transforms configured before {@code time}. */
  boolean hasBefore(final String connector, final long time) {
    return of(connector).values().stream().anyMatch(observation -> observation.since() < time);
  }

  /** Time of the latest observation of a connector; 0 if there is none. */
  long latestTime(final String connector) {
    return of(connector).values().stream().mapToLong(TopicObservation::since).max().orElse(0);
  }

  /** Remove observations from before {@code time}; return their topics. */
  List<String> removeBefore(final String connector, final long time) {
    return removeBefore(connector, of(connector).keySet(), time);
  }

  /** Remove observations of some topics from before {@code time}; return the topics removed. */
  List<String> removeBefore(
      final String connector, final Collection<String> topics, final long time) {
    final List<String> removed =
        before(connector, time).stream()
            .map(observation -> observation.topic().topic())
            .filter(topics::contains)
            .toList();
    removed.forEach(topic -> put(connector, topic, null));
    return removed;
  }

  /** Clear the schemas of observations from before {@code time}; return what remains of them. */
  List<TopicObservation> clearSchemasBefore(final String connector, final long time) {
    final List<TopicObservation> cleared = new ArrayList<>();
    for (final TopicObservation observation : before(connector, time)) {
      final TopicObservation withoutSchemas =
          new TopicObservation(
              new ObservedTopic(observation.topic().topic(), null, null, null),
              observation.since());
      cleared.add(withoutSchemas);
      put(connector, withoutSchemas.topic().topic(), withoutSchemas);
    }
    return cleared;
  }

  private List<TopicObservation> before(final String connector, final long time) {
    return of(connector).values().stream()
        .filter(observation -> observation.since() < time)
        .toList();
  }

  private Map<String, TopicObservation> of(final String connector) {
    return byConnector.getOrDefault(connector, Map.of());
  }
}
