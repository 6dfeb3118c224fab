// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.ConfigValue;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.sink.SinkConnector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class S3ArchiveSinkConnectorTest {
  private final S3ArchiveSinkConnector connector = new S3ArchiveSinkConnector();

  @Test
  void isFoundByServiceLoader() {
    assertThat(ServiceLoader.load(SinkConnector.class))
        .hasExactlyElementsOfTypes(S3ArchiveSinkConnector.class);
  }

  @Test
  void requiresTheBucketOnly() {
    assertThat(errors(options(Map.of()))).isEmpty();
    assertThat(connector.validate(Map.of()).configValues())
        .filteredOn(value -> !value.errorMessages().isEmpty())
        .extracting(ConfigValue::name)
        .containsExactly("s3.bucket.name");
  }

  @Test
  void acceptsOptionsOfConnectItself() {
    assertThat(
            errors(
                options(
                    Map.of(
                        "name", "archive",
                        "tasks.max", "2",
                        "topics.regex", "shop.*",
                        "errors.retry.timeout", "0",
                        "transforms", "x",
                        "value.converter", "org.apache.kafka.connect.storage.StringConverter",
                        "consumer.override.auto.offset.reset", "earliest"))))
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "s3.bucket.name          | s3://lab/topics | give the bucket name alone",
        "s3.region               | ``              | String must be non-empty",
        "store.url               | localhost:9000  | give a URL such as http://localhost:9000",
        "topics.dir              | /topics/        | give a path such as topics",
        "format.class            | ParquetFormat   | String must be one of: JsonFormat",
        "flush.size              | 0               | Value must be at least 1",
        "flush.size              | many            | Not a number",
        "aws.access.key.id       | K               | aws.secret.access.key is missing",
        "aws.secret.access.key   | S               | aws.access.key.id is missing",
        "flush.sise              | 5               | flush.sise is not an option of this connector",
        "path.format             | yyyy            | path.format is not an option of this connector",
        "behavior.on.null.values | write           | behavior.on.null.values is not an option",
        "partitioner.class       | DailyPartitioner | partitioner.class is not an option of this",
        "storage.class           | S3Storage       | storage.class is not an option of this connector",
        "schema.compatibility    | BACKWARD        | schema.compatibility is not an option of this",
        "parquet.codec           | gzip            | parquet.codec is not an option of this connector",
        "file.delim              | -               | file.delim is not an option of this connector",
        "directory.delim         | -               | directory.delim is not an option of this",
        "keys.format.class       | JsonFormat      | keys.format.class is not an option of this",
        "headers.format.class    | JsonFormat      | headers.format.class is not an option of this",
        "store.kafka.headers     | true            | store.kafka.headers is not an option of this",
        "enhanced.avro.schema.support | true       | enhanced.avro.schema.support is not an option",
        "s3.ssea.name            | aws:kms         | s3.ssea.name is not an option of this connector"
      })
  void rejectsInvalidOptions(final String name, final String value, final String message) {
    final Map<String, String> options = options(Map.of(name, value));

    assertThat(errors(options))
        .anySatisfy(error -> assertThat(error).contains(name).contains(message));
    assertThatThrownBy(() -> connector.start(options))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(message);
  }

  @Test
  void hidesTheSecretKey() {
    final ArchiveConfig config =
        new ArchiveConfig(
            options(Map.of("aws.access.key.id", "K", "aws.secret.access.key", "hush")));

    assertThat(config.toString() + config.values()).doesNotContain("hush");
    assertThat(config.secretKey()).isEqualTo("hush");
  }

  @Test
  void givesAllTasksTheSameOptions() {
    final Map<String, String> options = options(Map.of("flush.size", "5"));
    connector.start(options);

    assertThat(connector.taskConfigs(3)).containsExactly(options, options, options);
    assertThat(connector.taskClass()).isEqualTo(S3ArchiveSinkTask.class);
  }

  @Test
  void acceptsAResetOfOffsetsButNoOtherOffsets() {
    final Map<TopicPartition, Long> reset = new HashMap<>();
    reset.put(new TopicPartition("orders", 0), null);

    assertThat(connector.alterOffsets(Map.of(), reset)).isTrue();
    assertThatThrownBy(
            () -> connector.alterOffsets(Map.of(), Map.of(new TopicPartition("orders", 0), 5L)))
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("set topics.dir to another folder");
  }

  private List<String> errors(final Map<String, String> options) {
    return connector.validate(options).configValues().stream()
        .flatMap(value -> value.errorMessages().stream())
        .toList();
  }

  private static Map<String, String> options(final Map<String, String> changes) {
    final Map<String, String> options = new HashMap<>(Map.of("s3.bucket.name", "archive"));
    options.putAll(changes);
    return options;
  }
}
