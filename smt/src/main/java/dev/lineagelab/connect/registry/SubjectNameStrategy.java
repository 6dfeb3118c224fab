// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.UnusableOptionException;

/**
 * How the subject of a topic's values is called. Names that follow the record are not known: what
 * columns are told of is the topic.
 *
 * @param fixed one for all topics; null if it follows the topic
 * @param suffix behind the topic
 */
record SubjectNameStrategy(String fixed, String suffix) {
  private static final SubjectNameStrategy OF_TOPIC = new SubjectNameStrategy(null, "-value");

  /**
   * By the options of Confluent's converters.
   *
   * @throws UnusableOptionException the names are made in another way
   */
  static SubjectNameStrategy confluent(final ConnectorOptions converter) {
    final String option = "value.subject.name.strategy";
    final String strategy = simpleName(converter, option);
    if (!strategy.isEmpty() && !"TopicNameStrategy".equals(strategy)) {
      throw unknown(option, strategy);
    }
    return OF_TOPIC;
  }

  /**
   * By the options of Apicurio's converters.
   *
   * @throws UnusableOptionException the names are made in another way
   */
  static SubjectNameStrategy apicurio(final ConnectorOptions converter) {
    final String option = "apicurio.registry.artifact-resolver-strategy";
    final String fixed = converter.text("apicurio.registry.artifact.artifact-id").orElse(null);
    final String strategy = simpleName(converter, option);
    return switch (strategy) {
      case "", "TopicIdStrategy" -> new SubjectNameStrategy(fixed, OF_TOPIC.suffix);
      case "SimpleTopicIdStrategy" -> new SubjectNameStrategy(fixed, "");
      default -> throw unknown(option, strategy);
    };
  }

  private static String simpleName(final ConnectorOptions converter, final String option) {
    final String name = converter.text(option).orElse("");
    return name.substring(name.lastIndexOf('.') + 1);
  }

  private static UnusableOptionException unknown(final String option, final String strategy) {
    return new UnusableOptionException(
        "subjects are called after more than their topic ('" + option + "' is " + strategy + ")");
  }

  String of(final String topic) {
    return fixed == null ? topic + suffix : fixed;
  }
}
