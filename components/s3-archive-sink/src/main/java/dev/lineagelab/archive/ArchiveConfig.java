// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.apache.kafka.common.config.ConfigDef.LambdaValidator.with;
import static org.apache.kafka.common.config.ConfigDef.NO_DEFAULT_VALUE;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.NonEmptyString;
import org.apache.kafka.common.config.ConfigDef.Range;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.ConfigDef.ValidString;
import org.apache.kafka.common.config.ConfigDef.Validator;
import org.apache.kafka.common.config.ConfigException;

/** Options of one connector, named like those of Confluent's S3 sink connector. */
final class ArchiveConfig extends AbstractConfig {
  static final String BUCKET = "s3.bucket.name";
  static final String REGION = "s3.region";
  static final String STORE_URL = "store.url";
  static final String ACCESS_KEY = "aws.access.key.id";
  static final String SECRET_KEY = "aws.secret.access.key";
  static final String TOPICS_DIR = "topics.dir";
  static final String FORMAT_CLASS = "format.class";
  static final String FLUSH_SIZE = "flush.size";
  static final String ROTATE_SCHEDULE_INTERVAL_MS = "rotate.schedule.interval.ms";
  static final String BUFFER_BYTES = "buffer.bytes";
  static final String RETRY_TIMEOUT_MS = "retry.timeout.ms";

  /**
   * Prefixes of S3 sink options, this connector's and Confluent's; Connect's own options have none
   * of them. An unsupported option is rejected rather than ignored.
   */
  private static final List<String> RESERVED_PREFIXES =
      List.of(
          ("s3. store. aws. retry. topics.dir path. partition. partitioner. timezone locale "
                  + "timestamp. filename. format. avro. json. behavior. flush. rotate. buffer. storage. "
                  + "schema. parquet. file. directory. keys. headers. enhanced. connect.meta.")
              .split(" "));

  private static final Pattern BUCKET_NAME = Pattern.compile("[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]");
  private static final Pattern FOLDER =
      Pattern.compile("([A-Za-z0-9!_.*'()=+-]+(/[A-Za-z0-9!_.*'()=+-]+)*)?");
  private static final Range MS_OR_UNLIMITED = Range.atLeast(-1);

  static final ConfigDef DEFINITION =
      new ConfigDef()
          .define(
              BUCKET,
              Type.STRING,
              NO_DEFAULT_VALUE,
              text(
                  value -> BUCKET_NAME.matcher(value).matches(),
                  "give the bucket name alone, without s3:// or folder: 3 to 63 characters of a-z, "
                      + "0-9, dot and hyphen"),
              Importance.HIGH,
              "Name of the bucket; it must exist.")
          .define(
              STORE_URL,
              Type.STRING,
              "",
              text(
                  value -> value.isEmpty() || isHttp(value),
                  "give a URL such as http://localhost:9000, or omit the option"),
              Importance.MEDIUM,
              "URL of the object store, such as http://localhost:9000; empty for Amazon S3.")
          .define(
              REGION,
              Type.STRING,
              "us-east-1",
              new NonEmptyString(),
              Importance.MEDIUM,
              "AWS region of the bucket.")
          .define(
              ACCESS_KEY,
              Type.STRING,
              "",
              Importance.MEDIUM,
              "Access key id; empty for the default credentials chain of the AWS SDK (environment, "
                  + "profile, instance).")
          .define(
              SECRET_KEY,
              Type.PASSWORD,
              "",
              Importance.MEDIUM,
              "Secret access key for " + ACCESS_KEY + ".")
          .define(
              TOPICS_DIR,
              Type.STRING,
              "topics",
              text(
                  value -> FOLDER.matcher(value).matches(),
                  "give a path such as topics or lab/archive: no leading, trailing or double slash, "
                      + "only letters, digits and !_.*'()=+-"),
              Importance.MEDIUM,
              "Folder of the archive in the bucket; empty for the root of the bucket.")
          .define(
              FORMAT_CLASS,
              Type.STRING,
              "JsonFormat",
              ValidString.in("JsonFormat"),
              Importance.LOW,
              "Format of the objects: JSON lines.")
          .define(
              FLUSH_SIZE,
              Type.INT,
              1_000,
              Range.atLeast(1),
              Importance.MEDIUM,
              "Maximum number of records per object.")
          .define(
              ROTATE_SCHEDULE_INTERVAL_MS,
              Type.LONG,
              60_000L,
              MS_OR_UNLIMITED,
              Importance.MEDIUM,
              "Buffered records are written whenever the clock passes a multiple of this many "
                  + "milliseconds (since 1970-01-01 UTC); -1 to write full objects only.")
          .define(
              BUFFER_BYTES,
              Type.LONG,
              64L * 1024 * 1024,
              Range.atLeast(1024 * 1024),
              Importance.MEDIUM,
              "Maximum memory in bytes for buffered records of a task, excluding one batch from Kafka "
                  + "and the object being written.")
          .define(
              RETRY_TIMEOUT_MS,
              Type.LONG,
              600_000L,
              MS_OR_UNLIMITED,
              Importance.MEDIUM,
              "Milliseconds for which an unavailable store is retried before the task fails; -1 for "
                  + "no limit. Meanwhile nothing is read from Kafka.");

  /**
   * Parse options.
   *
   * @throws ConfigException if an option is missing, invalid, unknown or inconsistent with another
   */
  ArchiveConfig(final Map<String, String> options) {
    super(DEFINITION, options, false);
    final Map<String, String> problems = findProblems(options);
    if (!problems.isEmpty()) {
      throw new ConfigException(
          problems.entrySet().stream()
              .map(problem -> problem.getKey() + " " + problem.getValue())
              .collect(Collectors.joining("; ")));
    }
  }

  /**
   * Find unknown options and incomplete credentials, which validators of single options cannot.
   *
   * @return option name to problem and remedy; empty if there are none
   */
  static Map<String, String> findProblems(final Map<String, String> options) {
    final Map<String, String> problems = new TreeMap<>();
    for (final String name : options.keySet()) {
      if (!DEFINITION.names().contains(name)
          && RESERVED_PREFIXES.stream().anyMatch(name::startsWith)) {
        problems.put(
            name,
            "is not an option of this connector; known options: "
                + new TreeSet<>(DEFINITION.names()));
      }
    }
    final boolean hasAccessKey = !Objects.toString(options.get(ACCESS_KEY), "").isBlank();
    final boolean hasSecretKey = !Objects.toString(options.get(SECRET_KEY), "").isBlank();
    if (hasAccessKey != hasSecretKey) {
      problems.put(
          hasAccessKey ? SECRET_KEY : ACCESS_KEY,
          "is missing: "
              + (hasAccessKey ? ACCESS_KEY : SECRET_KEY)
              + " is set. Set both or neither");
    }
    return problems;
  }

  String bucket() {
    return getString(BUCKET);
  }

  /** URL of the store; empty for Amazon S3. */
  String storeUrl() {
    return getString(STORE_URL);
  }

  /** Access key id; empty for the default credentials chain of the AWS SDK. */
  String accessKey() {
    return getString(ACCESS_KEY).trim();
  }

  String secretKey() {
    return getPassword(SECRET_KEY).value().trim();
  }

  ObjectKeys keys() {
    return new ObjectKeys(getString(TOPICS_DIR));
  }

  RotationPolicy rotation() {
    return new RotationPolicy(getInt(FLUSH_SIZE), getLong(ROTATE_SCHEDULE_INTERVAL_MS));
  }

  /** Return true if {@code errors.tolerance}, an option of Connect itself, is {@code all}. */
  boolean toleratesErrors() {
    return "all".equalsIgnoreCase(originalsStrings().get("errors.tolerance"));
  }

  private static boolean isHttp(final String value) {
    try {
      final URI uri = new URI(value);
      return uri.getHost() != null && List.of("http", "https").contains(uri.getScheme());
    } catch (final URISyntaxException e) {
      return false;
    }
  }

  private static Validator text(final Predicate<String> isValid, final String remedy) {
    return with(
        (name, value) -> {
          // ConfigDef itself reports a required option that is missing.
          if (value != null && !isValid.test((String) value)) {
            throw new ConfigException(name, value, remedy);
          }
        },
        () -> remedy);
  }
}
