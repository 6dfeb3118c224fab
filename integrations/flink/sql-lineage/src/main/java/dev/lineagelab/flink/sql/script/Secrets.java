// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.configuration.GlobalConfiguration;

/** Redaction of credentials in SQL text, which is sent in lineage events. */
final class Secrets {
  private static final Pattern OPTION =
      Pattern.compile("'((?:[^']|'')*)'(\\s*=\\s*)'((?:[^']|'')*)'");
  private static final Pattern USER_INFO = Pattern.compile("//[^/@\\s']*@");

  private Secrets() {}

  /** Masks the values of secret options and removes user info from URLs. */
  static String redacted(final String sql) {
    final String options =
        OPTION
            .matcher(sql)
            .replaceAll(
                option ->
                    Matcher.quoteReplacement(
                        isSecret(option.group(1))
                            ? "'%s'%s'******'".formatted(option.group(1), option.group(2))
                            : option.group()));
    return withoutUserInfo(options);
  }

  static String withoutUserInfo(final String url) {
    return USER_INFO.matcher(url).replaceAll("//");
  }

  /** Returns whether an option is secret: Flink's rule, extended by object store credentials. */
  static boolean isSecret(final String option) {
    return GlobalConfiguration.isSensitive(option)
        || option.toLowerCase(Locale.ROOT).contains("access-key")
        || option.toLowerCase(Locale.ROOT).contains("credential");
  }
}
