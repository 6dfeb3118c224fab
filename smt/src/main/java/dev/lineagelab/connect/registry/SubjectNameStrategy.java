// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.SymbolicRecord.Side;
import dev.lineagelab.connect.columns.UnusableOptionException;
import java.util.Locale;

/**
 * Subject names of topic keys or values. Strategies that depend on the record are not supported:
 * columns are known per topic.
 *
 * @param fixed subject of all topics; null if it depends on the topic
 * @param suffix appended to the topic
 */
record SubjectNameStrategy(String fixed, String suffix) {
  /**
   * Return the strategy from the options of Confluent's converters.
   *
   * @throws UnusableOptionException if the strategy is not supported
   */
  static SubjectNameStrategy confluent(final ConnectorOptions converter, final Side side) {
    final String option = name(side) + ".subject.name.strategy";
    final String strategy = simpleName(converter, option);
    if (!strategy.isEmpty() && !"TopicNameStrategy".equals(strategy)) {
      throw unknown(option, strategy);
    }
    return new SubjectNameStrategy(null, suffix(side));
  }

  /**
   * Return the strategy from the options of Apicurio's converters.
   *
   * @throws UnusableOptionException if the strategy is not supported
   */
  static SubjectNameStrategy apicurio(final ConnectorOptions converter, final Side side) {
    final String option = "apicurio.registry.artifact-resolver-strategy";
    final String fixed = converter.text("apicurio.registry.artifact.artifact-id").orElse(null);
    final String strategy = simpleName(converter, option);
    return switch (strategy) {
      case "", "TopicIdStrategy" -> new SubjectNameStrategy(fixed, suffix(side));
      case "SimpleTopicIdStrategy" -> new SubjectNameStrategy(fixed, "");
      default -> throw unknown(option, strategy);
    };
  }

  private static String name(final Side side) {
    return side.name().toLowerCase(Locale.ROOT);
  }

  private static String suffix(final Side side) {
    return "-" + name(side);
  }

  private static String simpleName(final ConnectorOptions converter, final String option) {
    final String name = converter.text(option).orElse("");
    return name.substring(name.lastIndexOf('.') + 1);
  }

  private static UnusableOptionException unknown(final String option, final String strategy) {
    return new UnusableOptionException(
        "subject names do not depend on the topic alone ('" + option + "' is " + strategy + ")");
  }

  String subject(final String topic) {
    return fixed == null ? topic + suffix : fixed;
  }
}
