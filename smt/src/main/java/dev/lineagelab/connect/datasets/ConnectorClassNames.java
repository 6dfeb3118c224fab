// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import java.util.Collection;

/** Names of connector classes: Connect takes them without package, and without "Connector" too. */
final class ConnectorClassNames {
  private static final String SUFFIX = "Connector";

  private ConnectorClassNames() {}

  /** Whether a name out of a configuration means one of these classes. */
  static boolean isAnyOf(final Collection<String> fullNames, final String given) {
    return fullNames.stream().anyMatch(fullName -> isSame(fullName, given));
  }

  private static boolean isSame(final String fullName, final String given) {
    final String simple = fullName.substring(fullName.lastIndexOf('.') + 1);
    final String pruned =
        simple.endsWith(SUFFIX) ? simple.substring(0, simple.length() - SUFFIX.length()) : simple;
    return fullName.equals(given) || simple.equals(given) || pruned.equals(given);
  }
}
