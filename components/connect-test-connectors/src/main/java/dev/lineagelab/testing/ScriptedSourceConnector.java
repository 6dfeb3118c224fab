// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.testing;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.source.SourceConnector;

/**
 * Makes numbered records of given shapes; each task makes all of them, in a partition of its own.
 */
public final class ScriptedSourceConnector extends SourceConnector {
  static final String TOPIC = "topic";
  static final String SHAPES = "shapes";
  static final String LATER_SHAPES = "later.shapes";
  static final String LATER_AFTER = "later.after.records";
  static final String RECORDS = "records";
  static final String PAUSE_MS = "pause.ms";
  static final String TASK = "task.number";
  static final String FAIL_TASK = "fail.task";
  static final int EVERY_TASK = -1;

  private Map<String, String> options = Map.of();

  /** As Connect makes it. */
  public ScriptedSourceConnector() {}

  static ConfigDef definition() {
    final ConfigDef own =
        new ConfigDef()
            .define(TOPIC, Type.LIST, Importance.HIGH, "One or more topics, written to in turn.")
            .define(
                SHAPES, Type.LIST, "order", Importance.HIGH, "Of each topic's values; see Shape.")
            .define(
                LATER_SHAPES, Type.LIST, "", Importance.LOW, "Shapes that take the others' place.")
            .define(LATER_AFTER, Type.LONG, 0L, Importance.LOW, "After how many records they do.")
            .define(RECORDS, Type.LONG, Long.MAX_VALUE, Importance.LOW, "How many a task makes.")
            .define(PAUSE_MS, Type.LONG, 20L, Importance.LOW, "Milliseconds between two records.")
            .define(TASK, Type.INT, 0, Importance.LOW, "Set by the connector for each task.")
            .define(
                FAIL_TASK, Type.INT, EVERY_TASK, Importance.LOW, "The only task that may fail.");
    return Failure.addTo(own);
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
    return ScriptedSourceTask.class;
  }

  @Override
  public List<Map<String, String>> taskConfigs(final int maxTasks) {
    return IntStream.range(0, maxTasks).mapToObj(this::optionsOf).toList();
  }

  private Map<String, String> optionsOf(final int task) {
    final Map<String, String> own = new HashMap<>(options);
    own.put(TASK, Integer.toString(task));
    return own;
  }

  @Override
  public void stop() {
    // Nothing runs here: the tasks do the work.
  }
}
