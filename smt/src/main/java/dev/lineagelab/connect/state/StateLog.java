// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import java.util.function.BiConsumer;

/** Log of the latest value of each key, shared with other workers. Not thread-safe. */
interface StateLog extends AutoCloseable {
  /** Append a value in the background; null deletes the key. Never throws or waits for Kafka. */
  void append(String key, String value);

  /** Wait until all appended values are stored, or have failed. Never throws. */
  void flush();

  /** Pass on what other workers have appended since the last call. Never throws or blocks. */
  void poll(BiConsumer<String, String> consumer);

  /**
   * Poll as {@link #poll} does, but wait for everything appended before the call. Never throws.
   *
   * @return false if not all of it could be read
   */
  boolean catchUp(BiConsumer<String, String> consumer);

  /** Return whether the log survives this worker. */
  boolean isDurable();

  @Override
  void close();
}
