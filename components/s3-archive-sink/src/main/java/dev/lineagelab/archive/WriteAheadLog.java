// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import dev.lineagelab.archive.LogEntry.PlannedObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.errors.ConnectException;

/** Write-ahead logs of all topic partitions of an archive. */
final class WriteAheadLog {
  private static final byte[] MARKER =
      "{\"archive\": \"dev.lineagelab.archive\", \"version\": 1}\n"
          .getBytes(StandardCharsets.UTF_8);

  /**
   * Newest entry of a topic partition.
   *
   * @param missing its objects that do not exist in the store
   */
  record Newest(LogEntry entry, List<PlannedObject> missing) {}

  private final ObjectStore store;
  private final ObjectKeys keys;
  private boolean isStoreVerified;

  WriteAheadLog(final ObjectStore store, final ObjectKeys keys) {
    this.store = store;
    this.keys = keys;
  }

  /**
   * Read the newest entry of a topic partition: two requests, and one per object of the entry.
   *
   * @return empty if nothing of the partition is archived
   * @throws ConnectException if the store does not support conditional writes
   */
  Optional<Newest> newest(final TopicPartition partition) {
    verifyStore();
    return store.first(keys.logPrefix(partition)).map(this::read);
  }

  private Newest read(final String key) {
    final byte[] json =
        store
            .get(key)
            .orElseThrow(
                () ->
                    new StoreUnavailableException(
                        "Reading log entry " + key + ": listed but not found.", null));
    final LogEntry entry = LogEntry.parse(key, json);
    return new Newest(
        entry, entry.objects().stream().filter(object -> !store.exists(object.key())).toList());
  }

  /**
   * Check once that the archive can be written, and that the store rejects the second of two
   * conditional writes of the marker. A store that accepts it would let two tasks overwrite each
   * other's log entries.
   *
   * @throws ConnectException if the store does not support conditional writes, or denies access
   */
  void verifyStore() {
    if (isStoreVerified) {
      return;
    }
    if (store.putIfAbsent(keys.marker(), MARKER, LogEntry.CONTENT_TYPE)
        && store.putIfAbsent(keys.marker(), MARKER, LogEntry.CONTENT_TYPE)) {
      throw new ConnectException(
          ("Writing %s: the store at %s ignores If-None-Match, which rules out exactly-once "
                  + "delivery. Use a store with conditional writes, such as Amazon S3 or MinIO.")
              .formatted(keys.marker(), ArchiveConfig.STORE_URL));
    }
    isStoreVerified = true;
  }
}
