// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.columns.UnusableOptionException;
import java.net.URI;
import java.net.URISyntaxException;

/**
 * An address of a registry, taken apart.
 *
 * @param address without credentials, query, and slashes at its end
 * @param userInfo what stands before the host; null if nothing
 */
record RegistryUrl(String address, String userInfo) {
  /**
   * Reads an option.
   *
   * @throws UnusableOptionException it is no address of the web
   */
  static RegistryUrl parse(final String option, final String text) {
    try {
      final URI uri = new URI(text.strip());
      final boolean isWeb =
          "http".equalsIgnoreCase(uri.getScheme()) || "https".equalsIgnoreCase(uri.getScheme());
      if (!isWeb || uri.getHost() == null) {
        throw new UnusableOptionException("'" + option + "' is no http or https address");
      }
      final String path = uri.getRawPath() == null ? "" : uri.getRawPath().replaceAll("/+$", "");
      final URI bare =
          new URI(uri.getScheme(), null, uri.getHost(), uri.getPort(), null, null, null);
      return new RegistryUrl(bare + path, uri.getUserInfo());
    } catch (final URISyntaxException e) {
      // The exception quotes the address, in which there may be a password.
      throw new UnusableOptionException("'" + option + "' is no http or https address");
    }
  }

  /** Without what stands before the host, which is a secret. */
  @Override
  public String toString() {
    return address;
  }
}
