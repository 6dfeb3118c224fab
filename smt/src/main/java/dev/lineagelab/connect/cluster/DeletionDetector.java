// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import java.util.Set;

/** Detects changed, deleted and recreated connectors between two polls. Not thread-safe. */
public interface DeletionDetector extends AutoCloseable {
  /** Read the deletions since the last call. Never throws. */
  void poll();

  /** Return whether a connector was deleted and not created again. */
  boolean isDeleted(String connector);

  /** Connectors that were deleted and created again since the last call. */
  Set<String> takeRecreated();

  /** Connectors whose configuration was written since the last call. */
  Set<String> takeChanged();

  /** Return whether every change is detected at present. */
  boolean isReading();

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
        public Set<String> takeChanged() {
          return Set.of();
        }

        @Override
        public boolean isReading() {
          return false;
        }

        @Override
        public void close() {
          // There is nothing to close.
        }
      };
}
