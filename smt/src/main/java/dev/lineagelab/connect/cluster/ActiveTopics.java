// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import java.util.Set;

/** Topics that the tasks of a connector have used since they were reset. Not thread-safe. */
public interface ActiveTopics extends AutoCloseable {
  /** Read the changes since the last call. Never throws. */
  void poll();

  /**
   * Return the topics of a connector, by the names under which they are in Kafka: for a sink those
   * that it has read, regardless of its transforms.
   */
  Set<String> of(String connector);

  @Override
  void close();

  /** Knows no topics: for workers that do not track them. */
  ActiveTopics NONE =
      new ActiveTopics() {
        @Override
        public void poll() {
          // There is nothing to read.
        }

        @Override
        public Set<String> of(final String connector) {
          return Set.of();
        }

        @Override
        public void close() {
          // There is nothing to close.
        }
      };
}
