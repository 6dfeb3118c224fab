// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.observe;

import dev.lineagelab.connect.runs.ConnectorStatus;
import java.util.Map;
import java.util.Set;

/** The connectors of a worker's group. Used by one thread. */
public interface Cluster extends AutoCloseable {
  /**
   * All connectors as they are now, by name.
   *
   * @throws UnavailableException the worker does not know now: it starts, stops or rebalances
   */
  Map<String, ConnectorLook> look() throws UnavailableException;

  /** Connectors that were deleted and made again since the last call. */
  Set<String> recreated();

  /** Whether this worker is the one that speaks of a connector that is there. */
  boolean speaksFor(String connector, ConnectorStatus status);

  /** Names the group among all of the world. */
  String id();

  @Override
  void close();

  /** Nothing can be said of the connectors now. */
  final class UnavailableException extends Exception {
    private static final long serialVersionUID = 1L;

    public UnavailableException(final Throwable cause) {
      super(cause.toString(), cause);
    }
  }
}
