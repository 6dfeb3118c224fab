// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.TopicName;

/** Says why a place that depends on the topic is not known. */
final class Routing {
  private Routing() {}

  static String note(final TopicName topic) {
    return topic instanceof final TopicName.Unknown unknown
        ? unknown.reason()
        : "The name of the place that records go to has their time in it.";
  }
}
