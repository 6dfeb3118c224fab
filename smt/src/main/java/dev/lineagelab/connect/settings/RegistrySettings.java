// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import java.util.Map;
import org.apache.kafka.common.config.AbstractConfig;

/**
 * Settings of lookups of schema versions, and of tables in catalogs.
 *
 * @param enabled whether versions are looked up
 * @param readsTables whether catalogs are asked for the columns of tables
 * @param requestsPerMinute limit for all registries together, and for all catalogs together
 * @param converter options of the worker's value converter, without prefix; a connector may
 *     override them
 * @param keyConverter those of its key converter
 */
public record RegistrySettings(
    boolean enabled,
    boolean readsTables,
    int requestsPerMinute,
    Map<String, String> converter,
    Map<String, String> keyConverter) {
  private static final String CONVERTER = "value.converter";
  private static final String KEY_CONVERTER = "key.converter";

  public RegistrySettings {
    converter = Map.copyOf(converter);
    keyConverter = Map.copyOf(keyConverter);
  }

  static RegistrySettings of(final AbstractConfig config, final WorkerProperties worker) {
    return new RegistrySettings(
        config.getBoolean(OptionNames.REGISTRY_VERSIONS),
        config.getBoolean(OptionNames.CATALOG_COLUMNS),
        config.getInt(OptionNames.REGISTRY_REQUESTS),
        worker.withPrefix(CONVERTER + "."),
        worker.withPrefix(KEY_CONVERTER + "."));
  }

  /** Return the options of a connector's value converter, without prefix. */
  public Map<String, String> converterOf(final Map<String, String> connector) {
    return optionsOf(CONVERTER, connector, converter);
  }

  /** Return the options of a connector's key converter, without prefix. */
  public Map<String, String> keyConverterOf(final Map<String, String> connector) {
    return optionsOf(KEY_CONVERTER, connector, keyConverter);
  }

  private static Map<String, String> optionsOf(
      final String option, final Map<String, String> connector, final Map<String, String> worker) {
    // Connect also takes all options from the source that has the class.
    return connector.containsKey(option)
        ? WorkerProperties.withPrefix(connector, option + ".")
        : worker;
  }

  /** Omits the converter's options, which contain secrets. */
  @Override
  public String toString() {
    return "versions of schemas: " + (enabled ? requestsPerMinute + " requests a minute" : "none");
  }
}
