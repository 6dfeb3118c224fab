// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import java.util.Collection;

/**
 * Matches names of connector classes. Connect accepts them without package, and without the suffix
 * "Connector".
 */
final class ConnectorClassNames {
  private static final String SUFFIX = "Connector";

  private ConnectorClassNames() {}

  /** Return true if a configured name refers to one of these classes. */
  static boolean matchesAny(final Collection<String> fullNames, final String given) {
    return fullNames.stream().anyMatch(fullName -> matches(fullName, given));
  }

  private static boolean matches(final String fullName, final String given) {
    final String simple = fullName.substring(fullName.lastIndexOf('.') + 1);
    final String pruned =
        simple.endsWith(SUFFIX) ? simple.substring(0, simple.length() - SUFFIX.length()) : simple;
    return fullName.equals(given) || simple.equals(given) || pruned.equals(given);
  }
}
