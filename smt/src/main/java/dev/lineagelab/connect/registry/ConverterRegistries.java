// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.columns.SymbolicRecord.Side;
import dev.lineagelab.connect.columns.UnusableOptionException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Registries of converters, read once from each set of options. Used by one thread. */
final class ConverterRegistries {
  private static final int MAX_CONVERTERS = 1000;

  private final Map<Options, Converter> converters = new HashMap<>();

  private record Options(Map<String, String> options, Side side) {}

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
   * @param side which of a record's schemas it converts
   */
  Converter of(final Map<String, String> options, final Side side) {
    if (converters.size() > MAX_CONVERTERS) {
      converters.clear();
    }
    return converters.computeIfAbsent(new Options(options, side), ConverterRegistries::read);
  }

  private static Converter read(final Options given) {
    try {
      return new Converter(RegistryConfig.of(given.options(), given.side()), null);
    } catch (final UnusableOptionException e) {
      return new Converter(Optional.empty(), e.getMessage());
    }
  }
}
