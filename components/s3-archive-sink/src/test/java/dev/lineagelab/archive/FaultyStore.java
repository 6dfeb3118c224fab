// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/** Decorator of a store that runs hooks around each request, to inject faults. */
record FaultyStore(
    ObjectStore store, Runnable before, Runnable after, BiConsumer<String, byte[]> onWritten)
    implements ObjectStore {

  @Override
  public boolean putIfAbsent(final String key, final byte[] content, final String contentType) {
    return call(
        () -> {
          final boolean isWritten = store.putIfAbsent(key, content, contentType);
          if (isWritten) {
            onWritten.accept(key, content);
          }
          return isWritten;
        });
  }

  @Override
  public Optional<byte[]> get(final String key) {
    return call(() -> store.get(key));
  }

  @Override
  public boolean exists(final String key) {
    return call(() -> store.exists(key));
  }

  @Override
  public Optional<String> first(final String prefix) {
    return call(() -> store.first(prefix));
  }

  /** Do nothing: the store is shared by the tasks of a test. */
  @Override
  public void close() {}

  private <T> T call(final Supplier<T> call) {
    before.run();
    final T result = call.get();
    after.run();
    return result;
  }
}
