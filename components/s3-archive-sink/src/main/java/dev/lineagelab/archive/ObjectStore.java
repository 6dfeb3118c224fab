// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.util.Optional;

/**
 * Operations of the archive on one bucket. Every method throws {@link StoreUnavailableException} if
 * the same call may succeed later, and another {@code ConnectException} if it needs a manual fix.
 */
interface ObjectStore extends AutoCloseable {

  /**
   * Write an object unless its key exists.
   *
   * @return false if the key exists; the existing object is unchanged
   */
  boolean putIfAbsent(String key, byte[] content, String contentType);

  /** Return the content of an object; empty if the key does not exist. */
  Optional<byte[]> get(String key);

  boolean exists(String key);

  /** Return the first key with a prefix, in UTF-8 order; empty if there is none. */
  Optional<String> first(String prefix);

  @Override
  void close();
}
