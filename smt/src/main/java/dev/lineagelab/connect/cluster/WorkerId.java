// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import dev.lineagelab.connect.settings.WorkerProperties;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Id of this worker in connector states: its advertised {@code host:port}. */
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
    return (isSet(host) ? host : isMatched ? hostOf(listener.group(1)) : localHost())
        + ":"
        + (isSet(port) ? port : isMatched ? listener.group(2) : "");
  }

  private static String firstListener(final WorkerProperties worker) {
    final String listeners = worker.get("listeners");
    return isSet(listeners) ? listeners.split(",")[0].trim() : DEFAULT_LISTENER;
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
