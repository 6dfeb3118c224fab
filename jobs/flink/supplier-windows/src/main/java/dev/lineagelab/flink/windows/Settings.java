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
 * Command-line options of the job.
 *
 * @param name job name
 * @param bootstrap Kafka bootstrap servers, {@code host:port,...}
 * @param securityProtocol protocol of the Kafka clients: {@code PLAINTEXT}, or {@code SASL_SSL}
 *     with the login and the authorities of the JVM
 * @param registry base URL of the schema registry's Confluent API
 * @param orders input topic
 * @param windows output topic
 * @param group consumer group id; offsets are committed for monitoring only and never read back
 * @param transactions prefix of the Kafka transactional ids; must be unique to this job
 * @param transactionTimeout how long an open transaction survives while the job is down; the
 *     default is the brokers' default maximum
 * @param bounded whether the job stops at the end offsets found at its start
 * @param windowing window parameters
 */
record Settings(
    String name,
    String bootstrap,
    String securityProtocol,
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
          "bounded", "false",
          "security-protocol", "PLAINTEXT");
  private static final Set<String> DEFAULT_TO_NAME = Set.of("group", "transactions");

  /**
   * Parses {@code --option value} pairs. Durations are in Flink's format: {@code 5 s}, {@code 1
   * min}.
   *
   * @throws IllegalArgumentException an option is missing, unknown or invalid
   */
  static Settings parse(final List<String> args) {
    final Map<String, String> given = pairs(args);
    final Map<String, String> values = new HashMap<>(DEFAULTS);
    values.putAll(given);
    for (final String option : REQUIRED) {
      if (values.getOrDefault(option, "").isBlank()) {
        throw invalid(
            "--" + option + " is missing. Required options: --" + String.join(", --", REQUIRED));
      }
    }
    DEFAULT_TO_NAME.forEach(option -> values.putIfAbsent(option, values.get("name")));
    return new Settings(
        values.get("name"),
        values.get("bootstrap"),
        values.get("security-protocol"),
        values.get("registry"),
        values.get("orders"),
        values.get("windows"),
        values.get("group"),
        values.get("transactions"),
        positive(values, "transaction-timeout"),
        flag(values, "bounded"),
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
    known.addAll(DEFAULT_TO_NAME);
    final Map<String, String> pairs = new HashMap<>();
    for (int i = 0; i < args.size(); i += 2) {
      final String option = args.get(i);
      if (!option.startsWith("--") || !known.contains(option.substring(2))) {
        throw invalid(
            "unknown option " + option + "; expected one of --" + String.join(", --", known));
      }
      if (i + 1 == args.size()) {
        throw invalid(option + " has no value");
      }
      if (pairs.put(option.substring(2), args.get(i + 1)) != null) {
        throw invalid(option + " is given twice");
      }
    }
    return pairs;
  }

  private static Duration positive(final Map<String, String> values, final String option) {
    final Duration duration = duration(values, option);
    if (duration.toMillis() < 1) {
      throw invalid("--" + option + " " + values.get(option) + " is shorter than 1 ms");
    }
    return duration;
  }

  private static Duration duration(final Map<String, String> values, final String option) {
    try {
      return TimeUtils.parseDuration(values.get(option));
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw invalid(
          "--" + option + " " + values.get(option) + " is not a duration such as '5 s' or '1 min'");
    }
  }

  private static boolean flag(final Map<String, String> values, final String option) {
    return switch (values.get(option)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw invalid("--" + option + " " + values.get(option) + " is not true or false");
    };
  }

  private static IllegalArgumentException invalid(final String problem) {
    return new IllegalArgumentException("Invalid options of the job: " + problem + ".");
  }
}
