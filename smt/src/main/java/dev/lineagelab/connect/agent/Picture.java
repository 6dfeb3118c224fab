// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.runs.ConnectorStatus;
import dev.lineagelab.connect.runs.TaskStatus;
import dev.lineagelab.connect.settings.PluginSettings;
import java.util.Set;
import java.util.TreeSet;

/** All that an event can say of a connector. */
record Picture(
    ConnectorDefinition view,
    ConnectorStatus status,
    ConnectorLineage description,
    PluginSettings settings) {

  /** The same with another description. */
  Picture with(final ConnectorLineage other) {
    return new Picture(view, status, other, settings);
  }

  /** What makes an event due at once where it changes: lineage, and which tasks have failed. */
  boolean isNewsAfter(final Picture last) {
    return last == null
        || !description.equals(last.description)
        || !failures(status).equals(failures(last.status));
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
              if (hasFailed(task)) {
                failed.add(number.toString());
              }
            });
    return failed;
  }

  private static boolean hasFailed(final TaskStatus task) {
    return "FAILED".equals(task.state());
  }
}
