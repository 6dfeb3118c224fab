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

/** Sink that counts records and measures CPU time and allocation per record of its thread. */
public final class CountingSinkConnector extends SinkConnector {
  static final String EXPECTED = "expected.records";
  static final String RESULT = "result.file";

  private Map<String, String> options = Map.of();

  /** Create an unconfigured instance, as Connect requires. */
  public CountingSinkConnector() {}

  static ConfigDef definition() {
    return new ConfigDef()
        .define(
            EXPECTED,
            Type.LONG,
            Importance.HIGH,
            "Number of records after which the result is written.")
        .define(RESULT, Type.STRING, Importance.HIGH, "Path of the result file: one line of JSON.");
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
    options = new HashMap<>(given);
  }

  @Override
  public Class<? extends Task> taskClass() {
    return CountingSinkTask.class;
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
