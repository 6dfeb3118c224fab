// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import java.util.function.BiConsumer;

/** Keeps the last value of each key, for this worker and for the others. Used by one thread. */
interface StateLog extends AutoCloseable {
  /** Keeps a value, which others get to see; null takes it away. Never throws. */
  void append(String key, String value);

  /** Hands over what others have written since the last time. Never throws, and does not wait. */
  void poll(BiConsumer<String, String> consumer);

  /** The same, but waits for all that was written before the call. */
  void catchUp(BiConsumer<String, String> consumer);

  /** Whether it outlives the worker. */
  boolean isDurable();

  @Override
  void close();
}
