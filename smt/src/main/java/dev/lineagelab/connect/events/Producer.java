// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.events;

import java.util.Optional;
import org.apache.kafka.common.utils.AppInfoParser;

/** Producer of the events: this plugin and its version. */
public final class Producer {
  /** Version of this plugin. */
  public static final String VERSION =
      Optional.ofNullable(Producer.class.getPackage().getImplementationVersion()).orElse("unknown");

  /** Producer URI of events and facets. */
  static final String URI = "urn:lineage-lab:connect-lineage:" + VERSION;

  /** Version of Kafka Connect. */
  static final String CONNECT_VERSION = AppInfoParser.getVersion();

  private Producer() {}
}
