// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import java.util.function.BiConsumer;

/** Log of the latest value of each key, shared with other workers. Not thread-safe. */
interface StateLog extends AutoCloseable {
  /** Append a value; null deletes the key. Never throws. */
  void append(String key, String value);

  /** Pass on what other workers have appended since the last call. Never throws or blocks. */
  void poll(BiConsumer<String, String> consumer);

  /** Poll as {@link #poll} does, but wait for everything appended before the call. */
  void catchUp(BiConsumer<String, String> consumer);

  /** Return whether the log survives this worker. */
  boolean isDurable();

  @Override
  void close();
}
