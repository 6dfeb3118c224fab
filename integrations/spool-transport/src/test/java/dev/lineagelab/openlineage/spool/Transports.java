// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.openlineage.spool;

import io.openlineage.client.transports.HttpConfig;
import io.openlineage.client.transports.Transport;
import io.openlineage.client.transports.TransportFactory;
import java.net.URI;
import java.nio.file.Path;

/** Transports of tests, built as the agents build them. */
final class Transports {
  private Transports() {}

  static HttpConfig http(String url) {
    HttpConfig config = new HttpConfig();
    config.setUrl(URI.create(url));
    config.setTimeoutInMillis(2000);
    return config;
  }

  static SpoolConfig config(Path directory, String url) {
    SpoolConfig config = new SpoolConfig();
    config.setDirectory(directory.toString());
    config.setTransport(http(url));
    config.setCloseTimeoutInMillis(300L);
    return config;
  }

  static Transport spool(Path directory, String url) {
    return new TransportFactory(config(directory, url)).build();
  }
}
