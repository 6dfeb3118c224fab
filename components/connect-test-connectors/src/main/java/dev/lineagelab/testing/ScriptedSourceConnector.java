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

/** Source of numbered records of given shapes; each task emits all of them in its own partition. */
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

  /** Create an unconfigured instance, as Connect requires. */
  public ScriptedSourceConnector() {}

  static ConfigDef definition() {
    final ConfigDef own =
        new ConfigDef()
            .define(TOPIC, Type.LIST, Importance.HIGH, "Topics, written round-robin.")
            .define(
                SHAPES,
                Type.LIST,
                "order",
                Importance.HIGH,
                "Shape of the values per topic; see ValueShape.")
            .define(
                LATER_SHAPES, Type.LIST, "", Importance.LOW, "Shapes that replace the first ones.")
            .define(
                LATER_AFTER,
                Type.LONG,
                0L,
                Importance.LOW,
                "Number of records before later.shapes apply.")
            .define(
                RECORDS, Type.LONG, Long.MAX_VALUE, Importance.LOW, "Number of records per task.")
            .define(PAUSE_MS, Type.LONG, 20L, Importance.LOW, "Milliseconds between records.")
            .define(TASK, Type.INT, 0, Importance.LOW, "Number of the task; set by the connector.")
            .define(
                FAIL_TASK,
                Type.INT,
                EVERY_TASK,
                Importance.LOW,
                "Number of the task that may fail; -1 for every task.");
    return FailureInjection.addTo(own);
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
    // The connector itself holds no resources.
  }
}
