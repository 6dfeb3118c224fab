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

/** Sink that writes each record to a file as one line of JSON. */
public final class ScriptedSinkConnector extends SinkConnector {
  static final String FILE = "file";

  private Map<String, String> options = Map.of();

  /** Create an unconfigured instance, as Connect requires. */
  public ScriptedSinkConnector() {}

  static ConfigDef definition() {
    return FailureInjection.addTo(
        new ConfigDef()
            .define(FILE, Type.STRING, "", Importance.HIGH, "Path of the file; empty to discard."));
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
    FailureInjection.of(definition().parse(given)).at(FailureInjection.Stage.CONNECTOR_START, 0);
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
    // The connector itself holds no resources.
  }
}
