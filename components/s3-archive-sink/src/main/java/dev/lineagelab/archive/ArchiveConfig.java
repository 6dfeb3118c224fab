// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.time.Clock;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.connect.sink.ErrantRecordReporter;

/** The options of one connector, and what is made from them. */
final class ArchiveConfig extends AbstractConfig {

  private final Map<String, String> given;

  /**
   * Reads options.
   *
   * @throws ConfigException an option is missing or wrong, or some do not go together
   */
  ArchiveConfig(final Map<String, String> options) {
    super(OptionDefinitions.all(), options, false);
    this.given = new HashMap<>(options);
    final Map<String, String> problems = ConfigProblems.find(options);
    if (!problems.isEmpty()) {
      throw new ConfigException(
          problems.entrySet().stream()
              .map(problem -> problem.getKey() + " " + problem.getValue())
              .collect(Collectors.joining("; ")));
    }
  }

  String bucket() {
    return getString(Options.BUCKET);
  }

  /** Milliseconds before a batch is tried again. */
  long retryBackoffMs() {
    return getLong(Options.RETRY_BACKOFF_MS);
  }

  /** Milliseconds for which a batch is tried; -1 for ever. */
  long retryTimeoutMs() {
    return getLong(Options.RETRY_TIMEOUT_MS);
  }

  long bufferBytes() {
    return getLong(Options.BUFFER_BYTES);
  }

  ObjectNames names() {
    return new ObjectNames(getString(Options.TOPICS_DIR), getInt(Options.OFFSET_PAD_WIDTH));
  }

  /** Everything that a task needs, with a store. */
  ArchiveParts parts(
      final ObjectStore store, final Clock clock, final ErrantRecordReporter reporter) {
    final RecordFormat plainJson = json(false);
    final RecordFormat gzippedJson = json(true);
    final RecordFormat avro = new AvroFormat(getString(Options.AVRO_CODEC), envelope());
    final RecordFormat json = is(Options.COMPRESSION, "gzip") ? gzippedJson : plainJson;
    return new ArchiveParts(
        store,
        names(),
        new ArchiveMarker(names()),
        is(Options.FORMAT_CLASS, "AvroFormat") ? avro : json,
        List.of(gzippedJson, plainJson, avro),
        timestamps(clock),
        new TimePartitioner(
            getString(Options.PATH_FORMAT),
            getLong(Options.PARTITION_DURATION_MS),
            zone(),
            Locale.forLanguageTag(getString(Options.LOCALE))),
        new RotationPolicy(
            getInt(Options.FLUSH_SIZE),
            getLong(Options.ROTATE_INTERVAL_MS),
            getLong(Options.ROTATE_SCHEDULE_INTERVAL_MS),
            zone()),
        NullValues.valueOf(choice(Options.BEHAVIOR_ON_NULL_VALUES).toUpperCase(Locale.ROOT)),
        new ErrantRecords(reporter, "all".equalsIgnoreCase(given.get("errors.tolerance"))),
        clock);
  }

  private RecordFormat json(final boolean isGzipped) {
    final JsonValues values =
        new JsonValues(
            is(Options.JSON_DECIMAL_FORMAT, "NUMERIC"), is(Options.JSON_TIMESTAMP_FORMAT, "EPOCH"));
    return new JsonFormat(values, envelope(), isGzipped);
  }

  private Envelope envelope() {
    return new Envelope(getBoolean(Options.STORE_KEYS), getBoolean(Options.STORE_HEADERS));
  }

  private TimestampExtractor timestamps(final Clock clock) {
    return switch (choice(Options.TIMESTAMP_EXTRACTOR)) {
      case "record" -> TimestampExtractor.ofRecord();
      case "recordfield" -> TimestampExtractor.ofField(getString(Options.TIMESTAMP_FIELD).trim());
      default -> TimestampExtractor.ofClock(clock);
    };
  }

  private ZoneId zone() {
    return ZoneId.of(getString(Options.TIMEZONE));
  }

  private boolean is(final String option, final String choice) {
    return choice(option).equals(OptionChecks.normal(choice));
  }

  private String choice(final String option) {
    return OptionChecks.normal(getString(option));
  }
}
