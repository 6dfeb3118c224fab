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

/** Sink connector that archives topics in an S3 bucket, exactly once. */
public final class S3ArchiveSinkConnector extends SinkConnector {
  static final String VERSION =
      Objects.requireNonNullElse(
          S3ArchiveSinkConnector.class.getPackage().getImplementationVersion(), "unpackaged");

  private Map<String, String> options = Map.of();

  /** Create a connector without options; Connect calls {@link #start} next. */
  public S3ArchiveSinkConnector() {}

  @Override
  public String version() {
    return VERSION;
  }

  @Override
  public ConfigDef config() {
    return ArchiveConfig.DEFINITION;
  }

  /** Validate each option, unknown options, and options that depend on each other. */
  @Override
  public Config validate(final Map<String, String> given) {
    final Config config = super.validate(given);
    ArchiveConfig.findProblems(given)
        .forEach(
            (name, problem) -> {
              final ConfigValue invalid = new ConfigValue(name);
              invalid.addErrorMessage(name + " " + problem);
              config.configValues().removeIf(value -> value.name().equals(name));
              config.configValues().add(invalid);
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
    // The connector itself holds no resources.
  }

  /**
   * Accept a reset of offsets, which does not affect where the archive resumes.
   *
   * @throws ConnectException if offsets are set to a value
   */
  @Override
  public boolean alterOffsets(
      final Map<String, String> given, final Map<TopicPartition, Long> offsets) {
    if (offsets.values().stream().anyMatch(Objects::nonNull)) {
      throw new ConnectException(
          ("Setting offsets: this connector resumes where its archive ends and ignores committed "
                  + "offsets. To archive from the beginning again set %s to another folder; to skip "
                  + "records that fail set errors.tolerance=all.")
              .formatted(ArchiveConfig.TOPICS_DIR));
    }
    return true;
  }
}
