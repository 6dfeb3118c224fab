// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.UnusableOptionException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.Optional;
import org.apache.kafka.common.config.types.Password;

/** Credentials of a converter for its registry, as the value of the header Authorization. */
final class RegistryCredentials {
  private static final Password NONE = new Password("");

  private RegistryCredentials() {}

  /**
   * Return the credentials from the options of Confluent's clients.
   *
   * @param ofUrl user info of the URL; null if there is none
   * @throws UnusableOptionException if the authentication method is not supported
   */
  static Password confluent(final ConnectorOptions converter, final String ofUrl) {
    final Optional<String> bearer = converter.text("bearer.auth.credentials.source");
    if (bearer.isPresent()) {
      require("bearer.auth.credentials.source", bearer.get(), "STATIC_TOKEN");
      return new Password("Bearer " + converter.required("bearer.auth.token"));
    }
    final String basic =
        converter.text("basic.auth.credentials.source").orElse("URL").toUpperCase(Locale.ROOT);
    if ("URL".equals(basic)) {
      return ofUrl == null ? NONE : basic(ofUrl);
    }
    require("basic.auth.credentials.source", basic, "USER_INFO");
    return basic(
        converter
            .text("basic.auth.user.info")
            .orElseGet(() -> converter.required("schema.registry.basic.auth.user.info")));
  }

  /**
   * Return the credentials from the options of Apicurio's clients, whose names changed in version
   * 3.
   */
  static Password apicurio(final ConnectorOptions converter, final String ofUrl) {
    for (final String prefix : new String[] {"apicurio.registry.auth.", "apicurio.auth."}) {
      if (converter.has(prefix + "service.token.endpoint")) {
        throw new UnusableOptionException(
            "'" + prefix + "service.token.endpoint' is not supported");
      }
      final Optional<String> user = converter.text(prefix + "username");
      if (user.isPresent()) {
        return basic(user.get() + ":" + converter.required(prefix + "password"));
      }
    }
    return ofUrl == null ? NONE : basic(ofUrl);
  }

  private static void require(final String option, final String value, final String known) {
    if (!known.equalsIgnoreCase(value)) {
      throw new UnusableOptionException("'" + option + "' is '" + value + "', not " + known);
    }
  }

  private static Password basic(final String userAndPassword) {
    final byte[] bytes = userAndPassword.getBytes(StandardCharsets.UTF_8);
    return new Password("Basic " + Base64.getEncoder().encodeToString(bytes));
  }
}
