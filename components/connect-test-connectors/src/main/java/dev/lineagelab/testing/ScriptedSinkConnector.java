// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.testing;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.sink.SinkConnector;

/** Writes each record that it is given to a file, as one line of JSON. */
public final class ScriptedSinkConnector extends SinkConnector {
  static final String FILE = "file";

  private Map<String, String> options = Map.of();

  /** As Connect makes it. */
  public ScriptedSinkConnector() {}

  static ConfigDef definition() {
    return Failure.addTo(
        new ConfigDef()
            .define(FILE, Type.STRING, "", Importance.HIGH, "Where to; empty for nowhere."));
  }

  @Override
  public String version() {
    return "1";
  }

  @Override
  public ConfigDef config() {
    return definition();
  }

  @Override
  public void start(final Map<String, String> given) {
    Failure.of(definition().parse(given)).at(Failure.Stage.CONNECTOR_START, 0);
    options = new HashMap<>(given);
  }

  @Override
  public Class<? extends Task> taskClass() {
    return ScriptedSinkTask.class;
  }

  @Override
  public List<Map<String, String>> taskConfigs(final int maxTasks) {
    return Collections.nCopies(maxTasks, options);
  }

  @Override
  public void stop() {
    // Nothing runs here: the tasks do the work.
  }
}
