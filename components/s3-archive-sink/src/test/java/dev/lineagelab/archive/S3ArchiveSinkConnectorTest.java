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
  void isFoundByItsServiceFile() {
    assertThat(ServiceLoader.load(SinkConnector.class))
        .hasExactlyElementsOfTypes(S3ArchiveSinkConnector.class);
  }

  @Test
  void onlyTheBucketIsNeeded() {
    assertThat(errors(Map.of())).isEmpty();
    assertThat(connector.validate(Map.of()).configValues())
        .filteredOn(value -> !value.errorMessages().isEmpty())
        .extracting(ConfigValue::name)
        .containsExactly("s3.bucket.name");
  }

  @Test
  void optionsOfConnectItselfAreLeftAlone() {
    assertThat(
            errors(
                Map.of(
                    "name", "archive",
                    "tasks.max", "2",
                    "topics.regex", "shop.*",
                    "errors.retry.timeout", "0",
                    "transforms", "x",
                    "value.converter", "org.apache.kafka.connect.storage.StringConverter",
                    "consumer.override.auto.offset.reset", "earliest")))
        .isEmpty();
  }

  @Test
  void customaryValuesAreUnderstood() {
    final Map<String, String> options =
        options(
            Map.of(
                "format.class", "io.confluent.connect.s3.format.avro.AvroFormat",
                "timestamp.extractor", "WALLCLOCK",
                "path.format", "'year'=YYYY/'month'=MM",
                "behavior.on.null.values", "IGNORE",
                "avro.codec", "deflate"));

    assertThat(errors(options)).isEmpty();
    assertThat(new ArchiveConfig(options).names().topicsDir()).isEqualTo("topics");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "s3.bucket.name           | s3://lab/topics | give the bucket's name alone",
        "s3.region                | ``              | give a value",
        "store.url                | localhost:9000  | give a URL such as http://localhost:9000",
        "topics.dir               | /topics/        | give a path such as topics",
        "path.format              | 'q              | give a pattern such as",
        "path.format              | '_log'          | no underscore in front",
        "path.format              | yyyy/           | no slash at its ends",
        "path.format              | VV              | give a pattern such as",
        "timezone                 | Mars/Olympus    | give a zone such as UTC",
        "locale                   | e               | give a language tag such as en-US",
        "timestamp.extractor      | Magic           | choose one of Record, RecordField, Wallclock",
        "timestamp.extractor      | RecordField     | timestamp.field is missing",
        "format.class             | ParquetFormat   | choose one of JsonFormat, AvroFormat",
        "avro.codec               | snappy          | choose one of null, deflate, bzip2",
        "behavior.on.null.values  | write           | write needs store.kafka.keys=true",
        "flush.size               | 0               | Value must be at least 1",
        "flush.size               | many            | Not a number",
        "aws.access.key.id        | K               | aws.secret.access.key is missing",
        "aws.secret.access.key    | S               | aws.access.key.id is missing",
        "flush.sise               | 5               | flush.sise is no option of this connector",
        "s3.ssea.name             | aws:kms         | s3.ssea.name is no option of this connector"
      })
  void wrongOptionsAreNamedWithARemedy(final String name, final String value, final String remedy) {
    final Map<String, String> options = options(Map.of(name, value));

    assertThat(errors(options))
        .isNotEmpty()
        .anySatisfy(message -> assertThat(message).contains(name).contains(remedy));
    assertThatThrownBy(() -> connector.start(options))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining(remedy);
  }

  @Test
  void optionsThatDoNotGoTogetherWithAvroAreNamed() {
    assertThat(
            errors(
                Map.of(
                    "format.class", "avro",
                    "s3.compression.type", "gzip",
                    "value.converter", "org.apache.kafka.connect.json.JsonConverter",
                    "value.converter.schemas.enable", "false")))
        .hasSize(2)
        .anyMatch(message -> message.startsWith("s3.compression.type is for JsonFormat"))
        .anyMatch(message -> message.contains("AvroFormat needs values with a schema"));
  }

  @Test
  void choicesAreRecommended() {
    assertThat(connector.validate(options(Map.of())).configValues())
        .filteredOn(value -> value.name().equals("format.class"))
        .first()
        .extracting(ConfigValue::recommendedValues)
        .isEqualTo(List.of("JsonFormat", "AvroFormat"));
  }

  @Test
  void theSecretIsNotShown() {
    final Map<String, String> options =
        options(Map.of("aws.access.key.id", "K", "aws.secret.access.key", "hush"));

    assertThat(new ArchiveConfig(options).toString() + new ArchiveConfig(options).values())
        .doesNotContain("hush");
  }

  @Test
  void allTasksAreAlike() {
    final Map<String, String> options = options(Map.of("flush.size", "5"));
    connector.start(options);

    assertThat(connector.taskConfigs(3)).containsExactly(options, options, options);
    assertThat(connector.taskClass()).isEqualTo(S3ArchiveSinkTask.class);
  }

  @Test
  void offsetsCanBeResetButNotSet() {
    final Map<TopicPartition, Long> reset = new HashMap<>();
    reset.put(new TopicPartition("orders", 0), null);

    assertThat(connector.alterOffsets(Map.of(), reset)).isTrue();
    assertThatThrownBy(
            () -> connector.alterOffsets(Map.of(), Map.of(new TopicPartition("orders", 0), 5L)))
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("set topics.dir to another folder");
  }

  private List<String> errors(final Map<String, String> options) {
    final Map<String, String> all = options.isEmpty() ? options(Map.of()) : options(options);
    return connector.validate(all).configValues().stream()
        .flatMap(value -> value.errorMessages().stream())
        .toList();
  }

  private static Map<String, String> options(final Map<String, String> changes) {
    final Map<String, String> options = new HashMap<>(Map.of("s3.bucket.name", "archive"));
    options.putAll(changes);
    return options;
  }
}
