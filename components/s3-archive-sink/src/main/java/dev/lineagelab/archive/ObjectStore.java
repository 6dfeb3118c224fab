// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.util.Optional;

/**
 * The few things that the archive asks of a bucket. Every method throws {@link
 * StoreUnavailableException} if the same call may succeed later, and another {@code
 * ConnectException} if somebody has to mend something first.
 */
interface ObjectStore extends AutoCloseable {

  /**
   * Writes an object that is not there yet.
   *
   * @return false if there is one of this name; it stays as it is
   */
  boolean putIfAbsent(String key, byte[] content, String contentType);

  /** The content of an object; empty if there is none. */
  Optional<byte[]> get(String key);

  boolean exists(String key);

  /** The first key with this prefix, in the order of UTF-8; empty if there is none. */
  Optional<String> first(String prefix);

  @Override
  void close();
}
