// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Masks secrets in texts that leave the worker. Exception messages may quote a connector's
 * configuration.
 */
public final class SecretMasker {
  /** Replacement of a secret. */
  public static final String MASK = "****";

  private static final Pattern SECRET_NAME =
      Pattern.compile(
          "(?i).*(passw|secret|token|credential|api[._-]?key|access[._-]?key|private[._-]?key"
              + "|jaas|\\bkey$|passphrase|user\\.info).*");

  private static final Pattern IN_URL = Pattern.compile("(://[^\\s/:@]*):[^\\s/@]+@");

  private static final Pattern ASSIGNED =
      Pattern.compile(
          "(?i)([\\w.-]*(?:password|secret|token|api[._-]?key)\\w*[\"']?\\s*[=:]\\s*[\"']?)"
              + "[^\\s\"'&,;}]+");

  /** Values of switches whose names look like those of secrets. */
  private static final Set<String> SWITCHES = Set.of("true", "false", "none");

  /** Minimum length of a secret. Masking shorter values would make texts unreadable. */
  private static final int SHORTEST = 4;

  private final List<String> values;

  private SecretMasker(final Collection<String> values) {
    // Longest first: a secret may contain another one.
    this.values =
        values.stream().sorted(Comparator.comparingInt(String::length).reversed()).toList();
  }

  /**
   * Create a masker for a configuration: the values of options whose names look like those of
   * secrets.
   */
  public static SecretMasker of(final Map<String, String> config) {
    return new SecretMasker(
        config.entrySet().stream()
            .filter(option -> SECRET_NAME.matcher(option.getKey()).matches())
            .map(Map.Entry::getValue)
            .filter(SecretMasker::isSecret)
            .distinct()
            .toList());
  }

  private static boolean isSecret(final String value) {
    return value != null
        && value.length() >= SHORTEST
        && !value.startsWith("${")
        && !SWITCHES.contains(value.toLowerCase(Locale.ROOT));
  }

  /** Mask the secrets of the configuration, and everything else that looks like a secret. */
  public String mask(final String text) {
    String masked = text;
    for (final String value : values) {
      masked = masked.replace(value, MASK);
    }
    masked = IN_URL.matcher(masked).replaceAll("$1:" + MASK + "@");
    return ASSIGNED.matcher(masked).replaceAll("$1" + MASK);
  }
}
