// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.types.Password;

/**
 * Truststore and client certificate of the HTTP transport.
 *
 * @param truststore path; empty for Java's default
 * @param keystore path; empty for no client certificate
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

  /** Return true if Java's defaults are overridden. */
  public boolean isSet() {
    return !truststore.isEmpty() || !keystore.isEmpty();
  }
}
