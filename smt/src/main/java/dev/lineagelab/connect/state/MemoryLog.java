// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import java.util.function.BiConsumer;

/** Keeps nothing beyond what {@link SharedState} remembers by itself. */
final class MemoryLog implements StateLog {
  @Override
  public void append(final String key, final String value) {
    // There are no others.
  }

  @Override
  public void poll(final BiConsumer<String, String> consumer) {
    // There are no others.
  }

  @Override
  public void catchUp(final BiConsumer<String, String> consumer) {
    // There are no others.
  }

  @Override
  public boolean isDurable() {
    return false;
  }

  @Override
  public void close() {
    // Holds nothing.
  }
}
