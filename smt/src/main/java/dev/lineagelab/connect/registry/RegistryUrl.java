// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.columns.UnusableOptionException;
import java.net.URI;
import java.net.URISyntaxException;

/**
 * Address of a registry.
 *
 * @param address without credentials, query, and trailing slashes
 * @param userInfo credentials in the address; null if there are none
 */
record RegistryUrl(String address, String userInfo) {
  /**
   * Parse the address in an option.
   *
   * @throws UnusableOptionException if it is not an HTTP address
   */
  static RegistryUrl parse(final String option, final String text) {
    try {
      final URI uri = new URI(text.strip());
      final boolean isWeb =
          "http".equalsIgnoreCase(uri.getScheme()) || "https".equalsIgnoreCase(uri.getScheme());
      if (!isWeb || uri.getHost() == null) {
        throw new UnusableOptionException("'" + option + "' is not an http or https address");
      }
      final String path = uri.getRawPath() == null ? "" : uri.getRawPath().replaceAll("/+$", "");
      final URI bare =
          new URI(uri.getScheme(), null, uri.getHost(), uri.getPort(), null, null, null);
      return new RegistryUrl(bare + path, uri.getUserInfo());
    } catch (final URISyntaxException e) {
      // The exception quotes the address, which may contain a password.
      throw new UnusableOptionException("'" + option + "' is not an http or https address");
    }
  }

  /** Omits the user info, which is a secret. */
  @Override
  public String toString() {
    return address;
  }
}
