// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import java.util.Map;
import org.apache.kafka.common.config.AbstractConfig;

/**
 * Whether and how schema registries are asked for versions.
 *
 * @param requestsPerMinute to all of them together
 * @param converter the worker's options for values, without prefix; connectors may have their own
 */
public record RegistrySettings(
    boolean enabled, int requestsPerMinute, Map<String, String> converter) {
  private static final String CONVERTER = "value.converter";

  public RegistrySettings {
    converter = Map.copyOf(converter);
  }

  static RegistrySettings of(final AbstractConfig config, final WorkerProperties worker) {
    return new RegistrySettings(
        config.getBoolean(OptionNames.REGISTRY_VERSIONS),
        config.getInt(OptionNames.REGISTRY_REQUESTS),
        worker.withPrefix(CONVERTER + "."));
  }

  /** Options of the converter that a connector's values go through, without prefix. */
  public Map<String, String> converterOf(final Map<String, String> connector) {
    // Connect, too, takes all options from where it has the class from.
    return connector.containsKey(CONVERTER)
        ? WorkerProperties.withPrefix(connector, CONVERTER + ".")
        : converter;
  }

  /** Without the converter's options, among which are secrets. */
  @Override
  public String toString() {
    return "versions of schemas: " + (enabled ? requestsPerMinute + " requests a minute" : "none");
  }
}
