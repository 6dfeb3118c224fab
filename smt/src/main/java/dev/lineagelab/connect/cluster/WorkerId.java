// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import dev.lineagelab.connect.settings.WorkerProperties;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Id of this worker in connector states: its advertised {@code host:port}, found as Connect does.
 * Of several listeners the advertised one is that of {@code rest.advertised.listener}, else HTTP.
 */
final class WorkerId {
  private static final Pattern LISTENER = Pattern.compile("\\w+://(.*):(\\d+)/?");
  private static final String DEFAULT_LISTENER = "http://:8083";

  private WorkerId() {}

  /** Derive the id from the worker's properties. */
  static String of(final WorkerProperties worker) {
    final Matcher listener = LISTENER.matcher(firstListener(worker));
    final boolean isMatched = listener.matches();
    final String host = worker.get("rest.advertised.host.name");
    final String port = worker.get("rest.advertised.port");
    return (isSet(host) ? host.trim() : isMatched ? hostOf(listener.group(1)) : localHost())
        + ":"
        + (isSet(port) ? port.trim() : isMatched ? listener.group(2) : "");
  }

  private static String firstListener(final WorkerProperties worker) {
    final String listeners = worker.get("listeners");
    if (!isSet(listeners)) {
      return DEFAULT_LISTENER;
    }
    final List<String> all = Arrays.stream(listeners.split(",")).map(String::trim).toList();
    final String advertised = worker.get("rest.advertised.listener");
    final String protocol = isSet(advertised) ? advertised.trim() : "http";
    return all.stream()
        .filter(listener -> startsWith(listener, protocol + "://"))
        .findFirst()
        .orElse(all.get(0));
  }

  private static boolean startsWith(final String text, final String prefix) {
    return text.regionMatches(true, 0, prefix, 0, prefix.length());
  }

  private static String hostOf(final String host) {
    return host.isEmpty() ? localHost() : host;
  }

  private static boolean isSet(final String text) {
    return text != null && !text.isBlank();
  }

  private static String localHost() {
    try {
      return InetAddress.getLocalHost().getHostAddress();
    } catch (final UnknownHostException e) {
      return "localhost";
    }
  }
}
