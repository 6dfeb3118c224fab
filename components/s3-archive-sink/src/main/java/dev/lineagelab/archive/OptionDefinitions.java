// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.apache.kafka.common.config.ConfigDef.LambdaValidator.with;
import static org.apache.kafka.common.config.ConfigDef.NO_DEFAULT_VALUE;

import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Range;
import org.apache.kafka.common.config.ConfigDef.Recommender;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.ConfigDef.Validator;
import org.apache.kafka.common.config.ConfigDef.Width;

/** What the options mean, with defaults, checks and recommended values. */
final class OptionDefinitions {
  private static final String STORE_GROUP = "Store";
  private static final String NAMES_GROUP = "Object names";
  private static final String FORMAT_GROUP = "Format";
  private static final String FLUSH_GROUP = "Flush";
  private static final Range FOR_EVER_OR_MS = Range.atLeast(-1);

  private OptionDefinitions() {}

  /** All options with defaults, checks and recommended values. */
  static ConfigDef all() {
    final Builder options = new Builder();
    defineStore(options);
    defineNames(options);
    defineFormat(options);
    defineFlush(options);
    return options.definition;
  }

  private static void defineStore(final Builder options) {
    options
        .group(STORE_GROUP)
        .add(
            Options.BUCKET,
            Type.STRING,
            NO_DEFAULT_VALUE,
            OptionChecks.BUCKET,
            "The bucket; it must exist.")
        .add(
            Options.STORE_URL,
            Type.STRING,
            "",
            OptionChecks.URL,
            "Address of the store, such as http://localhost:9000; empty for Amazon S3.")
        .add(
            Options.REGION,
            Type.STRING,
            "us-east-1",
            OptionChecks.NOT_EMPTY,
            "The bucket's region.")
        .add(
            Options.ACCESS_KEY,
            Type.STRING,
            "",
            null,
            "Access key; empty to find one as the AWS SDK does (environment, profile, instance).")
        .add(
            Options.SECRET_KEY,
            Type.PASSWORD,
            "",
            null,
            "The secret that belongs to " + Options.ACCESS_KEY + ".")
        .add(
            Options.PATH_STYLE,
            Type.BOOLEAN,
            true,
            null,
            "Whether the bucket is in the path of a request, not in its host name.")
        .choose(Options.COMPRESSION, "none", "How JSON objects are compressed.", "none", "gzip")
        .add(
            Options.PART_RETRIES,
            Type.INT,
            3,
            Range.between(0, 20),
            "Times a request is repeated at once.")
        .add(
            Options.S3_RETRY_BACKOFF_MS,
            Type.LONG,
            200L,
            Range.between(1, 60_000),
            "Milliseconds before the first repetition; each further one waits twice as long.")
        .add(
            Options.RETRY_BACKOFF_MS,
            Type.LONG,
            5_000L,
            Range.between(1, 60_000),
            "Milliseconds before a batch is tried again that the store did not take. Meanwhile "
                + "nothing is read from Kafka.")
        .add(
            Options.RETRY_TIMEOUT_MS,
            Type.LONG,
            600_000L,
            FOR_EVER_OR_MS,
            "Milliseconds for which that is repeated before the task fails; -1 for ever.");
  }

  private static void defineNames(final Builder options) {
    options
        .group(NAMES_GROUP)
        .add(
            Options.TOPICS_DIR,
            Type.STRING,
            "topics",
            OptionChecks.FOLDER,
            "Folder of the archive in the bucket; empty for its root.")
        .add(
            Options.PATH_FORMAT,
            Type.STRING,
            "'year'=yyyy/'month'=MM/'day'=dd/'hour'=HH",
            OptionChecks.PATH_FORMAT,
            "Folder of a record's time below that of its topic, as Java's DateTimeFormatter has it.")
        .add(
            Options.PARTITION_DURATION_MS,
            Type.LONG,
            3_600_000L,
            Range.atLeast(1),
            "Milliseconds to a multiple of which a time is rounded down before it is formatted.")
        .add(
            Options.TIMEZONE,
            Type.STRING,
            "UTC",
            OptionChecks.ZONE,
            "Time zone of folders and schedule.")
        .add(
            Options.LOCALE,
            Type.STRING,
            "en-US",
            OptionChecks.LOCALE,
            "Language of names in folders.")
        .choose(
            Options.TIMESTAMP_EXTRACTOR,
            "Record",
            "A record's time: Kafka's, that of a field of its value, or that of archiving it.",
            "Record",
            "RecordField",
            "Wallclock")
        .add(
            Options.TIMESTAMP_FIELD,
            Type.STRING,
            "",
            null,
            "The field for RecordField; dots lead into nested ones.")
        .add(
            Options.OFFSET_PAD_WIDTH,
            Type.INT,
            10,
            Range.between(1, 19),
            "Digits of an offset in a name, filled up with zeros.");
  }

  private static void defineFormat(final Builder options) {
    options
        .group(FORMAT_GROUP)
        .choose(
            Options.FORMAT_CLASS,
            "JsonFormat",
            "JSON lines, or Avro container files. Avro needs values with a schema.",
            "JsonFormat",
            "AvroFormat")
        .choose(Options.AVRO_CODEC, "null", "How Avro is compressed.", "null", "deflate", "bzip2")
        .choose(
            Options.JSON_DECIMAL_FORMAT,
            "STRING",
            "Decimals in JSON: text keeps all digits in every reader, a number may not.",
            "STRING",
            "NUMERIC")
        .choose(
            Options.JSON_TIMESTAMP_FORMAT,
            "ISO",
            "Times in JSON: ISO 8601 text in UTC, or milliseconds (dates: days) since 1970.",
            "ISO",
            "EPOCH")
        .add(
            Options.STORE_KEYS,
            Type.BOOLEAN,
            false,
            null,
            "Archive {\"key\": ..., \"value\": ...} in place of the value alone.")
        .add(
            Options.STORE_HEADERS,
            Type.BOOLEAN,
            false,
            null,
            "Archive {\"value\": ..., \"headers\": [{\"key\": ..., \"value\": ...}]} in place of the "
                + "value alone.")
        .choose(
            Options.BEHAVIOR_ON_NULL_VALUES,
            "ignore",
            "A record without value: left out, an error, or archived with its key.",
            "ignore",
            "fail",
            "write");
  }

  private static void defineFlush(final Builder options) {
    options
        .group(FLUSH_GROUP)
        .add(
            Options.FLUSH_SIZE, Type.INT, 1_000, Range.atLeast(1), "Records of one object at most.")
        .add(
            Options.ROTATE_INTERVAL_MS,
            Type.LONG,
            -1L,
            FOR_EVER_OR_MS,
            "Milliseconds that one object spans at most, by the records' times; -1 for any.")
        .add(
            Options.ROTATE_SCHEDULE_INTERVAL_MS,
            Type.LONG,
            60_000L,
            FOR_EVER_OR_MS,
            "Milliseconds after which a partition's records are written at the latest, at multiples "
                + "counted from midnight; -1 to wait for more records.")
        .add(
            Options.BUFFER_BYTES,
            Type.LONG,
            64L * 1024 * 1024,
            Range.atLeast(1024 * 1024),
            "Bytes that a task holds in memory at most, besides one batch and the object that it is "
                + "writing.");
  }

  /** Defines options one after the other. */
  private static final class Builder {
    private final ConfigDef definition = new ConfigDef();
    private String group;
    private int order;

    private Builder group(final String name) {
      group = name;
      order = 0;
      return this;
    }

    private Builder add(
        final String name,
        final Type type,
        final Object defaultValue,
        final Validator check,
        final String documentation) {
      return define(name, type, defaultValue, check, documentation, null);
    }

    private Builder choose(
        final String name, final String defaultValue, final String doc, final String... values) {
      final List<String> choices = List.of(values);
      final Validator check =
          with(
              (option, value) -> OptionChecks.choice(option, value, choices),
              () -> "one of " + choices);
      return define(name, Type.STRING, defaultValue, check, doc, new Choices(choices));
    }

    private Builder define(
        final String name,
        final Type type,
        final Object defaultValue,
        final Validator check,
        final String documentation,
        final Recommender choices) {
      order++;
      final Importance importance =
          defaultValue == NO_DEFAULT_VALUE ? Importance.HIGH : Importance.MEDIUM;
      definition.define(
          name,
          type,
          defaultValue,
          check,
          importance,
          documentation,
          group,
          order,
          Width.MEDIUM,
          name,
          choices);
      return this;
    }
  }

  private record Choices(List<String> values) implements Recommender {
    @Override
    public List<Object> validValues(final String name, final Map<String, Object> config) {
      return List.copyOf(values);
    }

    @Override
    public boolean visible(final String name, final Map<String, Object> config) {
      return true;
    }
  }
}
