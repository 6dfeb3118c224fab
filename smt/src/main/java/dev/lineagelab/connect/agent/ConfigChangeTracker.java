// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.cluster.TransformConfig;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.ObservedTopic;
import dev.lineagelab.connect.state.SharedState;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Detects changes of a connector's configuration and invalidates observations made before them.
 * Until records arrive under the new configuration, observed topics are kept, without their schemas
 * if the chain of transforms has changed.
 */
final class ConfigChangeTracker {
  /** Intervals to wait for topics observed before a change to be observed again. */
  private static final int WAIT_INTERVALS = 3;

  private static final Pattern NOT_IN_TOPICS = Pattern.compile("[^a-zA-Z0-9._-]+");

  private final String connector;
  private final SharedState state;
  private ConnectorDefinition last;
  private long polledAt;
  private long changedAt;
  private boolean isSettled = true;

  /** Topics that the change has removed from the configuration. */
  private Set<String> dropped = Set.of();

  /** True if their observations have just been removed, which is why the datasets differ. */
  private boolean isExplained;

  ConfigChangeTracker(final String connector, final SharedState state) {
    this.connector = connector;
    this.state = state;
  }

  /**
   * Compare a connector's definition with that of the last poll.
   *
   * @param isRecreated whether it is a new connector of the same name
   * @param interval between two events of a running connector
   */
  void update(
      final ConnectorDefinition definition,
      final boolean isRecreated,
      final Duration interval,
      final long now) {
    if (last != null && !last.config().equals(definition.config())) {
      changedAt = polledAt;
      isSettled = false;
      dropped = isRecreated ? Set.of() : droppedTopics(definition);
      if (isRecreated) {
        state.removeObservationsBefore(connector, changedAt);
      } else if (!TransformConfig.schemaOptions(last.config())
          .equals(TransformConfig.schemaOptions(definition.config()))) {
        state.clearSchemasBefore(connector, changedAt);
      }
    }
    last = definition;
    polledAt = now;
    final boolean isTimedOut = now - changedAt > WAIT_INTERVALS * interval.toMillis();
    final boolean isObservedAgain = !state.hasObservationsBefore(connector, changedAt);
    isSettled |= (isObservedAgain || isTimedOut) && dropped.isEmpty();
    isExplained = !dropped.isEmpty() && state.latestObservationTime(connector) >= changedAt;
    if (isExplained) {
      // Records arrive under the new configuration: dropped topics are no longer written.
      state.removeObservationsBefore(connector, dropped, changedAt);
      dropped = Set.of();
    }
  }

  /**
   * Observed topics of a source that its configuration no longer names. A sink's topics follow from
   * its configuration alone; for a source of an unsupported class nothing else shows that it no
   * longer writes a topic.
   */
  private Set<String> droppedTopics(final ConnectorDefinition definition) {
    if (definition.type() != ConnectorType.SOURCE) {
      return Set.of();
    }
    final Set<String> removed = words(last.config().values());
    removed.addAll(dropped);
    removed.removeAll(words(definition.config().values()));
    return state.topics(connector).stream()
        .map(ObservedTopic::topic)
        .filter(removed::contains)
        .collect(Collectors.toUnmodifiableSet());
  }

  private static Set<String> words(final Collection<String> values) {
    final Set<String> words = new HashSet<>();
    values.stream().flatMap(NOT_IN_TOPICS::splitAsStream).forEach(words::add);
    return words;
  }

  /** Return whether datasets that differ at this poll do so because of a changed configuration. */
  boolean isPending() {
    return !isSettled;
  }

  /**
   * Settle a change that has led to other datasets: remove observations from before it, unless the
   * configuration itself explains the difference. Returns whether any were removed.
   */
  boolean settle() {
    final boolean isOutdated =
        !isSettled && !isExplained && state.hasObservationsBefore(connector, changedAt);
    if (isOutdated) {
      state.removeObservationsBefore(connector, changedAt);
    }
    isSettled = true;
    return isOutdated;
  }
}
