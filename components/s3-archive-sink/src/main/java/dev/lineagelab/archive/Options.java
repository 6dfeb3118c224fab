// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.util.List;

/** The connector's options, under the names that the widely used S3 sink has made customary. */
final class Options {
  static final String BUCKET = "s3.bucket.name";
  static final String REGION = "s3.region";
  static final String STORE_URL = "store.url";
  static final String ACCESS_KEY = "aws.access.key.id";
  static final String SECRET_KEY = "aws.secret.access.key";
  static final String PATH_STYLE = "s3.path.style.access.enabled";
  static final String COMPRESSION = "s3.compression.type";
  static final String PART_RETRIES = "s3.part.retries";
  static final String S3_RETRY_BACKOFF_MS = "s3.retry.backoff.ms";
  static final String RETRY_BACKOFF_MS = "retry.backoff.ms";
  static final String RETRY_TIMEOUT_MS = "retry.timeout.ms";

  static final String TOPICS_DIR = "topics.dir";
  static final String PATH_FORMAT = "path.format";
  static final String PARTITION_DURATION_MS = "partition.duration.ms";
  static final String TIMEZONE = "timezone";
  static final String LOCALE = "locale";
  static final String TIMESTAMP_EXTRACTOR = "timestamp.extractor";
  static final String TIMESTAMP_FIELD = "timestamp.field";
  static final String OFFSET_PAD_WIDTH = "filename.offset.zero.pad.width";

  static final String FORMAT_CLASS = "format.class";
  static final String AVRO_CODEC = "avro.codec";
  static final String JSON_DECIMAL_FORMAT = "json.decimal.format";
  static final String JSON_TIMESTAMP_FORMAT = "json.timestamp.format";
  static final String STORE_KEYS = "store.kafka.keys";
  static final String STORE_HEADERS = "store.kafka.headers";
  static final String BEHAVIOR_ON_NULL_VALUES = "behavior.on.null.values";

  static final String FLUSH_SIZE = "flush.size";
  static final String ROTATE_INTERVAL_MS = "rotate.interval.ms";
  static final String ROTATE_SCHEDULE_INTERVAL_MS = "rotate.schedule.interval.ms";
  static final String BUFFER_BYTES = "buffer.bytes";

  /** What the names of this connector's options start with, and Connect's own never do. */
  static final List<String> PREFIXES =
      List.of(
          "s3.",
          "store.",
          "aws.",
          "retry.",
          "topics.dir",
          "path.",
          "partition.",
          "timezone",
          "locale",
          "timestamp.",
          "filename.",
          "format.",
          "avro.",
          "json.",
          "behavior.",
          "flush.",
          "rotate.",
          "buffer.");

  private Options() {}
}
