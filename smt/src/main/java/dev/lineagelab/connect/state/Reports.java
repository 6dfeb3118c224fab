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

/** What was seen of the topics of connectors: of each topic the latest. */
final class Reports {
  private final Map<String, Map<String, Report>> byConnector = new HashMap<>();
  private final Map<String, Long> versions = new HashMap<>();

  /** What was seen of a connector's topics. */
  List<ObservedTopic> topics(final String connector) {
    return of(connector).values().stream().map(Report::topic).toList();
  }

  /** Rises whenever {@link #topics} changes. */
  long version(final String connector) {
    return versions.getOrDefault(connector, 0L);
  }

  /** Takes what another worker says; null that there is nothing any more. */
  void put(final String connector, final String topic, final Report report) {
    final Map<String, Report> known =
        byConnector.computeIfAbsent(connector, name -> new TreeMap<>());
    if (report == null) {
      known.remove(topic);
    } else {
      known.put(topic, report);
    }
    versions.merge(connector, 1L, Long::sum);
  }

  /** Takes what was seen here; returns what is to be kept of it, if that is news. */
  Optional<Report> merge(final String connector, final Report report) {
    final String topic = report.topic().topic();
    final Report known = of(connector).get(topic);
    final Report merged = merged(known, report);
    if (known != null && FactCodec.encode(known).equals(FactCodec.encode(merged))) {
      byConnector.get(connector).put(topic, merged);
      return Optional.empty();
    }
    put(connector, topic, merged);
    return Optional.of(merged);
  }

  /** Tombstones have no schema: what is known of a topic's records is not lost with them. */
  private static Report merged(final Report known, final Report report) {
    if (known == null) {
      return report;
    }
    final ObservedTopic then = known.topic();
    final ObservedTopic now = report.topic();
    return new Report(
        new ObservedTopic(
            now.topic(),
            now.keySchema() == null ? then.keySchema() : now.keySchema(),
            now.valueSchema() == null ? then.valueSchema() : now.valueSchema(),
            now.alias() == null ? then.alias() : now.alias()),
        report.since());
  }

  /** Whether something is known that transforms of before a time saw. */
  boolean hasBefore(final String connector, final long time) {
    return of(connector).values().stream().anyMatch(report -> report.since() < time);
  }

  /** When the youngest transform that saw anything was configured; 0 if none has. */
  long newest(final String connector) {
    return of(connector).values().stream().mapToLong(Report::since).max().orElse(0);
  }

  /** Drops what transforms of before a time saw; returns its topics. */
  List<String> forgetBefore(final String connector, final long time) {
    return forgetBefore(connector, of(connector).keySet(), time);
  }

  /** Drops what transforms of before a time saw of some topics; returns those it had. */
  List<String> forgetBefore(
      final String connector, final Collection<String> topics, final long time) {
    final List<String> forgotten =
        before(connector, time).stream()
            .map(report -> report.topic().topic())
            .filter(topics::contains)
            .toList();
    forgotten.forEach(topic -> put(connector, topic, null));
    return forgotten;
  }

  /** Drops the schemas that transforms of before a time saw; returns what is left. */
  List<Report> blankBefore(final String connector, final long time) {
    final List<Report> left = new ArrayList<>();
    for (final Report report : before(connector, time)) {
      final Report blank =
          new Report(new ObservedTopic(report.topic().topic(), null, null, null), report.since());
      left.add(blank);
      put(connector, blank.topic().topic(), blank);
    }
    return left;
  }

  private List<Report> before(final String connector, final long time) {
    return of(connector).values().stream().filter(report -> report.since() < time).toList();
  }

  private Map<String, Report> of(final String connector) {
    return byConnector.getOrDefault(connector, Map.of());
  }
}
