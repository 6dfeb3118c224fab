// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.Config;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigValue;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.sink.SinkConnector;

/** Archives topics in an S3 bucket; all tasks are alike. */
public final class S3ArchiveSinkConnector extends SinkConnector {
  static final String VERSION =
      Objects.requireNonNullElse(
          S3ArchiveSinkConnector.class.getPackage().getImplementationVersion(), "unpackaged");

  private Map<String, String> options = Map.of();

  /** As Connect makes it. */
  public S3ArchiveSinkConnector() {}

  @Override
  public String version() {
    return VERSION;
  }

  @Override
  public ConfigDef config() {
    return OptionDefinitions.all();
  }

  /** Adds what no single option shows to what is wrong with each. */
  @Override
  public Config validate(final Map<String, String> given) {
    final Config config = super.validate(given);
    final Map<String, ConfigValue> values = new HashMap<>();
    config.configValues().forEach(value -> values.put(value.name(), value));
    ConfigProblems.find(given)
        .forEach(
            (name, problem) -> {
              if (!values.containsKey(name)) {
                final ConfigValue unknown = new ConfigValue(name);
                config.configValues().add(unknown);
                values.put(name, unknown);
              }
              values.get(name).addErrorMessage(name + " " + problem);
            });
    return config;
  }

  @Override
  public void start(final Map<String, String> given) {
    new ArchiveConfig(given);
    options = new HashMap<>(given);
  }

  @Override
  public Class<? extends Task> taskClass() {
    return S3ArchiveSinkTask.class;
  }

  @Override
  public List<Map<String, String>> taskConfigs(final int maxTasks) {
    return Collections.nCopies(maxTasks, options);
  }

  @Override
  public void stop() {
    // Nothing runs here: the tasks do the work.
  }

  /**
   * Lets offsets be reset, which has no effect on where the archive goes on.
   *
   * @throws ConnectException they are to be set to other ones
   */
  @Override
  public boolean alterOffsets(
      final Map<String, String> given, final Map<TopicPartition, Long> offsets) {
    if (offsets.values().stream().anyMatch(Objects::nonNull)) {
      throw new ConnectException(
          "Setting offsets: this connector goes on where its archive ends, whatever is committed. To "
              + "archive from the start again set "
              + Options.TOPICS_DIR
              + " to another folder; to leave out records that fail set errors.tolerance=all.");
    }
    return true;
  }
}
