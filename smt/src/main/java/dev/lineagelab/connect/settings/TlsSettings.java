// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.types.Password;

/**
 * Whom to trust, and who one is.
 *
 * @param truststore path; empty for Java's own
 * @param keystore path; empty to show no certificate
 */
public record TlsSettings(
    String truststore, Password truststorePassword, String keystore, Password keystorePassword) {

  static TlsSettings of(final AbstractConfig config) {
    return new TlsSettings(
        config.getString(OptionNames.TRUSTSTORE),
        config.getPassword(OptionNames.TRUSTSTORE_PASSWORD),
        config.getString(OptionNames.KEYSTORE),
        config.getPassword(OptionNames.KEYSTORE_PASSWORD));
  }

  /** Whether anything differs from what Java does by itself. */
  public boolean isSet() {
    return !truststore.isEmpty() || !keystore.isEmpty();
  }
}
