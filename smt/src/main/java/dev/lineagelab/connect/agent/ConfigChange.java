// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.ObservedTopic;
import dev.lineagelab.connect.observe.TransformConfig;
import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.state.SharedState;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Finds changes of a connector's configuration, and how long they matter. What transforms saw
 * before a change need not hold after it, and what holds shows only with the next records: until
 * then topics count as they were, with columns unknown where the chain has changed.
 */
final class ConfigChange {
  /** Intervals after which a topic that was not seen again is no longer waited for. */
  private static final int PATIENCE = 3;

  private static final Pattern NOT_IN_TOPICS = Pattern.compile("[^a-zA-Z0-9._-]+");

  private final String connector;
  private final SharedState state;
  private ConnectorDefinition last;
  private long lookedAt;
  private long changedAt;
  private boolean isSettled = true;

  /** Topics that the change has taken out of the configuration. */
  private Set<String> dropped = Set.of();

  /** Whether they have just been forgotten, and so are why datasets differ. */
  private boolean isExplained;

  ConfigChange(final String connector, final SharedState state) {
    this.connector = connector;
    this.state = state;
  }

  /**
   * Takes a look.
   *
   * @param isAnew whether it is another connector by the same name
   */
  void see(
      final ConnectorDefinition view,
      final boolean isAnew,
      final PluginSettings settings,
      final long now) {
    if (last != null && !last.config().equals(view.config())) {
      changedAt = lookedAt;
      isSettled = false;
      dropped = isAnew ? Set.of() : dropped(view);
      if (isAnew) {
        state.forgetBefore(connector, changedAt);
      } else if (!TransformConfig.chain(last.config())
          .equals(TransformConfig.chain(view.config()))) {
        state.blankBefore(connector, changedAt);
      }
    }
    last = view;
    lookedAt = now;
    final long patience = PATIENCE * settings.interval().toMillis();
    final boolean isQuiet = !state.hasBefore(connector, changedAt) || now - changedAt > patience;
    isSettled |= isQuiet && dropped.isEmpty();
    isExplained = !dropped.isEmpty() && state.newestReport(connector) >= changedAt;
    if (isExplained) {
      // Records come under the new configuration: those of before are over.
      state.forgetBefore(connector, dropped, changedAt);
      dropped = Set.of();
    }
  }

  /**
   * Topics that a source was told to write and now is not. A sink's are those of its configuration
   * alone; of a source whose class nobody knows nothing else tells that a topic is no longer
   * written.
   */
  private Set<String> dropped(final ConnectorDefinition view) {
    if (view.type() != ConnectorType.SOURCE) {
      return Set.of();
    }
    final Set<String> gone = words(last.config().values());
    gone.addAll(dropped);
    gone.removeAll(words(view.config().values()));
    return state.topics(connector).stream()
        .map(ObservedTopic::topic)
        .filter(gone::contains)
        .collect(Collectors.toUnmodifiableSet());
  }

  private static Set<String> words(final Collection<String> values) {
    final Set<String> words = new HashSet<>();
    values.stream().flatMap(NOT_IN_TOPICS::splitAsStream).forEach(words::add);
    return words;
  }

  /** Whether datasets that differ now do so because of the change. */
  boolean isPending() {
    return !isSettled;
  }

  /**
   * They differ: nothing of what was seen before holds any more, unless the configuration tells
   * what does. Returns whether anything was forgotten.
   */
  boolean forget() {
    final boolean wasSeen = !isSettled && !isExplained && state.hasBefore(connector, changedAt);
    if (wasSeen) {
      state.forgetBefore(connector, changedAt);
    }
    isSettled = true;
    return wasSeen;
  }
}
