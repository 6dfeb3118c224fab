// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.openlineage.spool;

import io.openlineage.client.MergeConfig;
import io.openlineage.client.transports.TransportConfig;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Properties of the transport, as OpenLineage reads them from the configuration of an agent, a file
 * or environment variables.
 *
 * <ul>
 *   <li>{@code directory}: folder for events that are not accepted yet. Processes may share it.
 *   <li>{@code transport}: where events go, as without this transport.
 *   <li>{@code maxBytes}: size limit of waiting events, by default {@value #MAX_BYTES}.
 *   <li>{@code closeTimeoutInMillis}: how long the end of the process waits for the delivery, by
 *       default {@value #CLOSE_TIMEOUT_MILLIS}.
 * </ul>
 */
public final class SpoolConfig implements TransportConfig, MergeConfig<SpoolConfig> {
  static final long MAX_BYTES = 64L << 20;
  static final long CLOSE_TIMEOUT_MILLIS = 5000;

  private String directory;
  private TransportConfig transport;
  private Long maxBytes;
  private Long closeTimeoutInMillis;

  public String getDirectory() {
    return directory;
  }

  public void setDirectory(String directory) {
    this.directory = directory;
  }

  public TransportConfig getTransport() {
    return transport;
  }

  public void setTransport(TransportConfig transport) {
    this.transport = transport;
  }

  public Long getMaxBytes() {
    return maxBytes;
  }

  public void setMaxBytes(Long maxBytes) {
    this.maxBytes = maxBytes;
  }

  public Long getCloseTimeoutInMillis() {
    return closeTimeoutInMillis;
  }

  public void setCloseTimeoutInMillis(Long closeTimeoutInMillis) {
    this.closeTimeoutInMillis = closeTimeoutInMillis;
  }

  @Override
  public SpoolConfig mergeWithNonNull(SpoolConfig other) {
    SpoolConfig merged = new SpoolConfig();
    merged.directory = mergePropertyWith(directory, other.directory);
    merged.transport = mergePropertyWith(transport, other.transport);
    merged.maxBytes = mergePropertyWith(maxBytes, other.maxBytes);
    merged.closeTimeoutInMillis =
        mergePropertyWith(closeTimeoutInMillis, other.closeTimeoutInMillis);
    return merged;
  }

  Path folder() {
    return Path.of(directory);
  }

  long byteLimit() {
    return maxBytes == null ? MAX_BYTES : maxBytes;
  }

  Duration closeTimeout() {
    return Duration.ofMillis(
        closeTimeoutInMillis == null ? CLOSE_TIMEOUT_MILLIS : closeTimeoutInMillis);
  }

  /** Throws IllegalArgumentException where a property is missing or invalid. */
  void requireComplete() {
    if (directory == null || directory.isBlank()) {
      throw invalid("it has no folder for its events; set transport.directory");
    }
    if (transport == null) {
      throw invalid(
          "it has no transport for its events; set transport.transport.type and the properties of"
              + " that type");
    }
    if (byteLimit() <= 0) {
      throw invalid("transport.maxBytes is " + maxBytes + ", not a positive number of bytes");
    }
    if (closeTimeout().isNegative()) {
      throw invalid("transport.closeTimeoutInMillis is negative: " + closeTimeoutInMillis);
    }
  }

  static IllegalArgumentException invalid(String reason) {
    return new IllegalArgumentException(
        "Cannot start the transport of type " + SpoolTransportBuilder.TYPE + ": " + reason);
  }
}
