// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.util.TimeUtils;

/**
 * What the job is told when it is started.
 *
 * @param name of the job
 * @param bootstrap Kafka's brokers, {@code host:port,...}
 * @param registry the root of the schema registry's API, as Confluent's clients want it
 * @param orders the topic that is read
 * @param windows the topic that is written
 * @param group Kafka's name for the readers; it is told how far they are, and never asked
 * @param transactions how the ids of Kafka transactions begin: no other job's may begin so
 * @param transactionTimeout how long what was written and not yet committed outlives a job that is
 *     down; the default is the most that Kafka's brokers allow by theirs
 * @param bounded whether the job ends where the topic ended when it started
 * @param windowing how orders go into windows
 */
record Settings(
    String name,
    String bootstrap,
    String registry,
    String orders,
    String windows,
    String group,
    String transactions,
    Duration transactionTimeout,
    boolean bounded,
    Windowing windowing) {

  private static final Set<String> REQUIRED =
      new TreeSet<>(Set.of("name", "bootstrap", "registry", "orders", "windows"));
  private static final Map<String, String> DEFAULTS =
      Map.of(
          "window", "5 s",
          "out-of-orderness", "5 s",
          "idleness", "60 s",
          "allowed-lateness", "5 s",
          "ahead", "1 h",
          "transaction-timeout", "15 min",
          "bounded", "false");
  private static final Set<String> NAMED_AS_THE_JOB = Set.of("group", "transactions");

  /**
   * Reads {@code --option value} pairs. Durations are as Flink writes them: {@code 5 s}, {@code 1
   * min}.
   *
   * @throws IllegalArgumentException an option is missing, unknown or wrong
   */
  static Settings parse(final List<String> args) {
    final Map<String, String> given = pairs(args);
    final Map<String, String> values = new HashMap<>(DEFAULTS);
    values.putAll(given);
    for (final String option : REQUIRED) {
      if (values.getOrDefault(option, "").isBlank()) {
        throw wrong("--" + option + " is missing. Needed are --" + String.join(", --", REQUIRED));
      }
    }
    NAMED_AS_THE_JOB.forEach(option -> values.putIfAbsent(option, values.get("name")));
    return new Settings(
        values.get("name"),
        values.get("bootstrap"),
        values.get("registry"),
        values.get("orders"),
        values.get("windows"),
        values.get("group"),
        values.get("transactions"),
        positive(values, "transaction-timeout"),
        yesOrNo(values, "bounded"),
        new Windowing(
            positive(values, "window"),
            duration(values, "out-of-orderness"),
            positive(values, "idleness"),
            duration(values, "allowed-lateness"),
            duration(values, "ahead")));
  }

  private static Map<String, String> pairs(final List<String> args) {
    final Set<String> known = new TreeSet<>(REQUIRED);
    known.addAll(DEFAULTS.keySet());
    known.addAll(NAMED_AS_THE_JOB);
    final Map<String, String> pairs = new HashMap<>();
    for (int i = 0; i < args.size(); i += 2) {
      final String option = args.get(i);
      if (!option.startsWith("--") || !known.contains(option.substring(2))) {
        throw wrong(option + " is none of --" + String.join(", --", known));
      }
      if (i + 1 == args.size()) {
        throw wrong(option + " has no value");
      }
      if (pairs.put(option.substring(2), args.get(i + 1)) != null) {
        throw wrong(option + " is given twice");
      }
    }
    return pairs;
  }

  private static Duration positive(final Map<String, String> values, final String option) {
    final Duration duration = duration(values, option);
    if (duration.toMillis() < 1) {
      throw wrong("--" + option + " " + values.get(option) + " is less than a millisecond");
    }
    return duration;
  }

  private static Duration duration(final Map<String, String> values, final String option) {
    try {
      return TimeUtils.parseDuration(values.get(option));
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw wrong(
          "--" + option + " " + values.get(option) + " is no duration such as '5 s' or '1 min'");
    }
  }

  private static boolean yesOrNo(final Map<String, String> values, final String option) {
    return switch (values.get(option)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw wrong("--" + option + " " + values.get(option) + " is not true or false");
    };
  }

  private static IllegalArgumentException wrong(final String problem) {
    return new IllegalArgumentException("Reading the options of the job: " + problem + ".");
  }
}
