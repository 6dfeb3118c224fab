// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.connect.errors.ConnectException;

/**
 * An object at the archive's root that is written twice, for the store to refuse it the second
 * time. One that does not would let two tasks overwrite each other's decisions.
 */
final class ArchiveMarker {
  private static final byte[] CONTENT =
      "{\"archive\": \"dev.lineagelab.archive\", \"version\": 1}\n"
          .getBytes(StandardCharsets.UTF_8);

  private final String key;
  private boolean isEnsured;

  ArchiveMarker(final ObjectNames names) {
    this.key = names.marker();
  }

  /**
   * Asks the store once.
   *
   * @throws ConnectException the store overwrites what it should not
   */
  void ensure(final ObjectStore store) {
    if (isEnsured) {
      return;
    }
    if (store.putIfAbsent(key, CONTENT, LogEntry.CONTENT_TYPE)
        && store.putIfAbsent(key, CONTENT, LogEntry.CONTENT_TYPE)) {
      throw new ConnectException(
          "Writing "
              + key
              + ": the store at "
              + Options.STORE_URL
              + " ignores If-None-Match and overwrites objects, so no record could be archived "
              + "exactly once. Use one that honours it: Amazon S3, MinIO.");
    }
    isEnsured = true;
  }
}
