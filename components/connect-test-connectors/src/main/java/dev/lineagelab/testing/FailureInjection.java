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
 * Failure injected into a plugin.
 *
 * @param stage at which the plugin fails
 * @param afterRecords number of records that pass first
 * @param flag file that must exist for the failure, so that a restart without it succeeds with an
 *     unchanged configuration; null to fail always
 */
record FailureInjection(Stage stage, long afterRecords, Path flag) {

  /** Call of Connect to a plugin. RECORDS is poll, put or apply. */
  enum Stage {
    NOWHERE,
    CONNECTOR_START,
    TASK_START,
    RECORDS,
    TASK_STOP
  }

  static final FailureInjection NONE = new FailureInjection(Stage.NOWHERE, 0, null);

  private static final String STAGE = "fail.at";
  private static final String AFTER = "fail.after.records";
  private static final String FLAG = "fail.flag";

  /** Add the options of this class to those of a plugin. */
  static ConfigDef addTo(final ConfigDef options) {
    return options
        .define(
            STAGE,
            Type.STRING,
            name(Stage.NOWHERE),
            ValidString.in(
                Arrays.stream(Stage.values()).map(FailureInjection::name).toArray(String[]::new)),
            Importance.HIGH,
            "Stage at which to fail.")
        .define(AFTER, Type.LONG, 0L, Importance.LOW, "Number of records before the failure.")
        .define(FLAG, Type.STRING, "", Importance.LOW, "Fail only while this file exists.");
  }

  /** Create an instance from options parsed with {@link #addTo}. */
  static FailureInjection of(final Map<String, ?> parsed) {
    final String flag = (String) parsed.get(FLAG);
    return new FailureInjection(
        Stage.valueOf(((String) parsed.get(STAGE)).toUpperCase(Locale.ROOT)),
        (Long) parsed.get(AFTER),
        flag.isEmpty() ? null : Path.of(flag));
  }

  /**
   * Fail if the stage is reached; to be called at each stage.
   *
   * @param records number of records so far
   * @throws ConnectException if the failure is configured for this stage
   */
  void at(final Stage reached, final long records) {
    if (reached == stage && records >= afterRecords && (flag == null || Files.exists(flag))) {
      throw new ConnectException(
          "Failing at " + name(reached) + " after " + records + " records, as configured");
    }
  }

  private static String name(final Stage stage) {
    return stage.name().toLowerCase(Locale.ROOT);
  }
}
