// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.events;

import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.runs.ConnectorStatus;
import dev.lineagelab.connect.settings.PluginSettings;
import java.util.Set;
import java.util.TreeSet;

/** Definition, status, lineage and settings of a connector at one poll: the content of an event. */
public record LineageSnapshot(
    ConnectorDefinition connector,
    ConnectorStatus status,
    ConnectorLineage lineage,
    PluginSettings settings) {

  /** Copy with other lineage. */
  public LineageSnapshot withLineage(final ConnectorLineage other) {
    return new LineageSnapshot(connector, status, other, settings);
  }

  /**
   * Return whether an event is due at once after {@code previous}: the lineage or the set of failed
   * tasks has changed.
   */
  public boolean isChangedSince(final LineageSnapshot previous) {
    return previous == null
        || !lineage.equals(previous.lineage)
        || !failures(status).equals(failures(previous.status));
  }

  private static Set<String> failures(final ConnectorStatus status) {
    final Set<String> failed = new TreeSet<>();
    if ("FAILED".equals(status.state())) {
      failed.add("connector");
    }
    status
        .tasks()
        .forEach(
            (number, task) -> {
              if ("FAILED".equals(task.state())) {
                failed.add(number.toString());
              }
            });
    return failed;
  }
}
