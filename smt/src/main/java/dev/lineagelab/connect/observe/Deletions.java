// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.observe;

import java.util.Set;

/** Tells a connector that was deleted and made again from one that went on. Used by one thread. */
public interface Deletions extends AutoCloseable {
  /** Takes in what has happened. Never throws. */
  void poll();

  /** Whether a connector was deleted, and not made again. */
  boolean isDeleted(String connector);

  /** Connectors that were deleted and made again since the last call. */
  Set<String> takeRecreated();

  @Override
  void close();

  /** Where nothing tells. */
  Deletions UNSEEN =
      new Deletions() {
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
          // Holds nothing.
        }
      };
}
