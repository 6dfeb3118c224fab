// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.ConfigDef.ValidString;
import org.apache.kafka.connect.errors.ConnectException;

/**
 * Where a plugin is to fail.
 *
 * @param stage the only place where it does
 * @param afterRecords how many records pass first
 * @param flag a file: while it is there the plugin fails, so that a restart can succeed with the
 *     configuration unchanged; null to fail always
 */
record Failure(Stage stage, long afterRecords, Path flag) {

  /** A place where Connect calls a plugin. RECORDS is poll, put or apply. */
  enum Stage {
    NOWHERE,
    CONNECTOR_START,
    TASK_START,
    RECORDS,
    TASK_STOP
  }

  static final Failure NONE = new Failure(Stage.NOWHERE, 0, null);

  private static final String STAGE = "fail.at";
  private static final String AFTER = "fail.after.records";
  private static final String FLAG = "fail.flag";

  /** The options, added to a plugin's own. */
  static ConfigDef addTo(final ConfigDef options) {
    return options
        .define(
            STAGE,
            Type.STRING,
            name(Stage.NOWHERE),
            ValidString.in(Arrays.stream(Stage.values()).map(Failure::name).toArray(String[]::new)),
            Importance.HIGH,
            "Where to fail.")
        .define(AFTER, Type.LONG, 0L, Importance.LOW, "How many records pass before that.")
        .define(FLAG, Type.STRING, "", Importance.LOW, "Fail only while this file is there.");
  }

  /** What options say that were parsed by a definition of {@link #addTo}. */
  static Failure of(final Map<String, ?> parsed) {
    final String flag = (String) parsed.get(FLAG);
    return new Failure(
        Stage.valueOf(((String) parsed.get(STAGE)).toUpperCase(Locale.ROOT)),
        (Long) parsed.get(AFTER),
        flag.isEmpty() ? null : Path.of(flag));
  }

  /**
   * Called at each stage.
   *
   * @param records how many have passed so far
   * @throws ConnectException this is where to fail
   */
  void at(final Stage reached, final long records) {
    if (reached == stage && records >= afterRecords && (flag == null || Files.exists(flag))) {
      throw new ConnectException(
          "Failing at " + name(reached) + " after " + records + " records, as the test wants it");
    }
  }

  private static String name(final Stage stage) {
    return stage.name().toLowerCase(Locale.ROOT);
  }
}
