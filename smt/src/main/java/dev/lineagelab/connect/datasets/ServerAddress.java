// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.UnusableOptionException;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Extracts host and port from addresses. Everything else is dropped, since it may contain a
 * password.
 */
final class ServerAddress {
  private static final Map<String, Integer> PORTS = Map.of("http", 80, "https", 443);

  private static final Pattern HOST = Pattern.compile("[\\w.\\-:\\[\\]]+");

  private ServerAddress() {}

  /**
   * Return host and port of the first of several comma-separated addresses, with or without scheme.
   *
   * @param port default port
   * @throws UnusableOptionException if there is no unambiguous host
   */
  static String hostAndPort(final String addresses, final int port) {
    final String first = addresses.split(",", -1)[0].strip();
    final int scheme = first.indexOf("://");
    final String rest = scheme < 0 ? first : first.substring(scheme + 3);
    final String authority = rest.split("[/?;]", -1)[0];
    final String host = authority.substring(authority.lastIndexOf('@') + 1);
    // A password that contains a slash would become part of the name.
    final boolean isDoubtful = !authority.contains("@") && rest.contains("@");
    if (isDoubtful || !HOST.matcher(host).matches()) {
      throw new UnusableOptionException("an address has no unambiguous host");
    }
    final String name = scheme < 0 ? "" : first.substring(0, scheme);
    final boolean hasPort = host.indexOf(':', host.lastIndexOf(']') + 1) >= 0;
    return hasPort ? host : host + ":" + PORTS.getOrDefault(name, port);
  }

  /** Return the path after host and port, without leading and trailing slashes. */
  static String path(final String address) {
    final int scheme = address.indexOf("://");
    final String rest = scheme < 0 ? address : address.substring(scheme + 3);
    final int slash = rest.indexOf('/');
    final String path = slash < 0 ? "" : rest.substring(slash).split("[?#;]", 2)[0];
    return path.replaceAll("^/+|/+$", "");
  }
}
