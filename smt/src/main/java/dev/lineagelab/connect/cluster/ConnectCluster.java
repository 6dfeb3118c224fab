// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import dev.lineagelab.connect.runs.ConnectorStatus;
import java.util.Map;
import java.util.Set;

/** Connectors of the Connect cluster that this worker belongs to. Not thread-safe. */
public interface ConnectCluster extends AutoCloseable {
  /**
   * Snapshot of every connector, by name.
   *
   * @throws UnavailableException the worker is starting, stopping or rebalancing
   */
  Map<String, ConnectorSnapshot> snapshots() throws UnavailableException;

  /** Connectors that were deleted and created again since the last call. */
  Set<String> takeRecreated();

  /** Return whether this worker is the one that sends events of the connector. */
  boolean isLeaderFor(String connector, ConnectorStatus status);

  /** Globally unique id of the cluster. */
  String id();

  @Override
  void close();

  /** The state of the connectors is not available at present. */
  final class UnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    public UnavailableException(final Throwable cause) {
      super(cause.toString(), cause);
    }
  }
}
