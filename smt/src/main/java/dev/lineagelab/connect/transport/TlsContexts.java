// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

import dev.lineagelab.connect.settings.TlsSettings;
import java.io.File;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.apache.kafka.common.config.types.Password;

/** Creates TLS contexts from keystores. */
final class TlsContexts {
  private TlsContexts() {}

  /**
   * TLS context with the stores of {@code settings}, and Java's defaults for those not set.
   *
   * @throws IllegalArgumentException a store cannot be read; the message has its path, not its
   *     password
   */
  static SSLContext of(final TlsSettings settings) {
    try {
      final SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys(settings), trusted(settings), null);
      return context;
    } catch (final GeneralSecurityException e) {
      throw new IllegalArgumentException("cannot create a TLS context: " + e, e);
    }
  }

  private static TrustManager[] trusted(final TlsSettings settings)
      throws GeneralSecurityException {
    if (settings.truststore().isEmpty()) {
      return null;
    }
    final TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(load(settings.truststore(), settings.truststorePassword()));
    return factory.getTrustManagers();
  }

  private static KeyManager[] keys(final TlsSettings settings) throws GeneralSecurityException {
    if (settings.keystore().isEmpty()) {
      return null;
    }
    final KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    final Password password = settings.keystorePassword();
    factory.init(load(settings.keystore(), password), password.value().toCharArray());
    return factory.getKeyManagers();
  }

  private static KeyStore load(final String path, final Password password)
      throws GeneralSecurityException {
    try {
      // Detects PKCS12 and JKS.
      return KeyStore.getInstance(new File(path), password.value().toCharArray());
    } catch (final IOException e) {
      throw new IllegalArgumentException(
          "cannot read keystore " + path + ": " + e.getMessage() + "; check its path and password",
          e);
    }
  }
}
