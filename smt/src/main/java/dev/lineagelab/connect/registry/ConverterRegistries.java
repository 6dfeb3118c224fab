// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.columns.UnusableOptionException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Registries of converters, read once from each set of options. Used by one thread. */
final class ConverterRegistries {
  private static final int MAX_CONVERTERS = 1000;

  private final Map<Map<String, String>, Converter> converters = new HashMap<>();

  /**
   * Registry of a converter.
   *
   * @param registry empty if there is none, or it cannot be queried
   * @param unusable why it cannot be queried; null if it can, or if there is none
   */
  record Converter(Optional<RegistryConfig> registry, String unusable) {}

  /**
   * Return the registry of a converter.
   *
   * @param options of the converter, without prefix
   */
  Converter of(final Map<String, String> options) {
    if (converters.size() > MAX_CONVERTERS) {
      converters.clear();
    }
    return converters.computeIfAbsent(options, ConverterRegistries::read);
  }

  private static Converter read(final Map<String, String> options) {
    try {
      return new Converter(RegistryConfig.of(options), null);
    } catch (final UnusableOptionException e) {
      return new Converter(Optional.empty(), e.getMessage());
    }
  }
}
