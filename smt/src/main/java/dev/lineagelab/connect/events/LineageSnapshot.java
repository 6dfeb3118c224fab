// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.events;

import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.runs.ConnectorStatus;
import dev.lineagelab.connect.settings.PluginSettings;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Definition, status, lineage and settings of a connector at one poll: the content of an event. */
public record LineageSnapshot(
    ConnectorDefinition connector,
    ConnectorStatus status,
    ConnectorLineage lineage,
    PluginSettings settings) {
  private static final String CONNECTOR = "connector";

  /** Copy with other lineage. */
  public LineageSnapshot withLineage(final ConnectorLineage other) {
    return new LineageSnapshot(connector, status, other, settings);
  }

  /**
   * Return why an event is due at once after {@code previous}: failed tasks or the lineage have
   * changed. Empty if neither has.
   */
  public Optional<String> changeSince(final LineageSnapshot previous) {
    if (previous != null && !failures(status).equals(failures(previous.status))) {
      return Optional.of(failureSummary(status));
    }
    final boolean isSame = previous != null && lineage.equals(previous.lineage);
    return isSame ? Optional.empty() : Optional.of("lineage changed");
  }

  private static String failureSummary(final ConnectorStatus status) {
    final List<String> failed =
        failures(status).stream().filter(name -> !CONNECTOR.equals(name)).toList();
    if (failed.isEmpty()) {
      return failures(status).isEmpty() ? "no task is failed" : "the connector failed";
    }
    return failed.size()
        + " of "
        + status.tasks().size()
        + " tasks failed: "
        + String.join(", ", failed);
  }

  private static Set<String> failures(final ConnectorStatus status) {
    final Set<String> failed = new TreeSet<>();
    if ("FAILED".equals(status.state())) {
      failed.add(CONNECTOR);
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
