// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import java.util.function.BiConsumer;

/** Stores nothing: {@link SharedState} holds the state of this worker in memory. */
final class InMemoryStateLog implements StateLog {
  @Override
  public void append(final String key, final String value) {
    // No other worker reads it.
  }

  @Override
  public void flush() {
    // There is nothing to write.
  }

  @Override
  public void poll(final BiConsumer<String, String> consumer) {
    // No other worker writes to it.
  }

  @Override
  public boolean catchUp(final BiConsumer<String, String> consumer) {
    // No other worker writes to it.
    return true;
  }

  @Override
  public boolean isDurable() {
    return false;
  }

  @Override
  public void close() {
    // There is nothing to close.
  }
}
