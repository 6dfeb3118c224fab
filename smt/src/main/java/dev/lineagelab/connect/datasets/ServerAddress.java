// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.UnusableOptionException;
import java.util.Map;
import java.util.regex.Pattern;

/** Finds host and port in addresses, and leaves out everything else: there may be a password. */
final class ServerAddress {
  private static final Map<String, Integer> PORTS = Map.of("http", 80, "https", 443);

  private static final Pattern HOST = Pattern.compile("[\\w.\\-:\\[\\]]+");

  private ServerAddress() {}

  /**
   * Host and port of the first of some addresses, with or without scheme.
   *
   * @param port that is meant where none is given
   * @throws UnusableOptionException there is no host
   */
  static String first(final String addresses, final int port) {
    final String first = addresses.split(",", -1)[0].strip();
    final int scheme = first.indexOf("://");
    final String rest = scheme < 0 ? first : first.substring(scheme + 3);
    final String authority = rest.split("[/?;]", -1)[0];
    final String host = authority.substring(authority.lastIndexOf('@') + 1);
    // A password with a slash in it would end up in the name.
    final boolean isDoubtful = !authority.contains("@") && rest.contains("@");
    if (isDoubtful || !HOST.matcher(host).matches()) {
      throw new UnusableOptionException("an address has no host that can be told");
    }
    final String name = scheme < 0 ? "" : first.substring(0, scheme);
    final boolean hasPort = host.indexOf(':', host.lastIndexOf(']') + 1) >= 0;
    return hasPort ? host : host + ":" + PORTS.getOrDefault(name, port);
  }

  /** The path behind host and port, without slashes at its ends. */
  static String path(final String address) {
    final int scheme = address.indexOf("://");
    final String rest = scheme < 0 ? address : address.substring(scheme + 3);
    final int slash = rest.indexOf('/');
    final String path = slash < 0 ? "" : rest.substring(slash).split("[?#;]", 2)[0];
    return path.replaceAll("^/+|/+$", "");
  }
}
