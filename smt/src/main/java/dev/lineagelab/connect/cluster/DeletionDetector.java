// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import java.util.Set;

/** Detects connectors that are deleted and created again between two polls. Not thread-safe. */
public interface DeletionDetector extends AutoCloseable {
  /** Read the deletions since the last call. Never throws. */
  void poll();

  /** Return whether a connector was deleted and not created again. */
  boolean isDeleted(String connector);

  /** Connectors that were deleted and created again since the last call. */
  Set<String> takeRecreated();

  @Override
  void close();

  /** Detects nothing: for workers without a config topic. */
  DeletionDetector NONE =
      new DeletionDetector() {
        @Override
        public void poll() {
          // There is nothing to read.
        }

        @Override
        public boolean isDeleted(final String connector) {
          return false;
        }

        @Override
        public Set<String> takeRecreated() {
          return Set.of();
        }

        @Override
        public void close() {
          // There is nothing to close.
        }
      };
}
