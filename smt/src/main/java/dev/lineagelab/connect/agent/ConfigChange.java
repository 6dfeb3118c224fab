// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.model.ConnectorView;
import dev.lineagelab.connect.observe.TransformConfig;
import dev.lineagelab.connect.settings.Settings;
import dev.lineagelab.connect.state.SharedState;

/**
 * Finds changes of a connector's configuration, and how long they matter. What transforms saw
 * before a change need not hold after it, and what holds shows only with the next records: until
 * then topics count as they were, with columns unknown where the chain has changed.
 */
final class ConfigChange {
  /** Intervals after which a topic that was not seen again is no longer waited for. */
  private static final int PATIENCE = 3;

  private final String connector;
  private final SharedState state;
  private ConnectorView last;
  private long lookedAt;
  private long changedAt;
  private boolean isSettled = true;

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
      final ConnectorView view, final boolean isAnew, final Settings settings, final long now) {
    if (last != null && !last.config().equals(view.config())) {
      changedAt = lookedAt;
      isSettled = false;
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
    isSettled |= !state.hasBefore(connector, changedAt) || now - changedAt > patience;
  }

  /** Whether datasets that differ now do so because of the change. */
  boolean isPending() {
    return !isSettled;
  }

  /**
   * They differ: nothing of what was seen before holds any more. Returns whether there was
   * anything.
   */
  boolean forget() {
    final boolean wasSeen = !isSettled && state.hasBefore(connector, changedAt);
    if (wasSeen) {
      state.forgetBefore(connector, changedAt);
    }
    isSettled = true;
    return wasSeen;
  }
}
