// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/** Upload of a chunk: its log entry, then its objects. A retry resumes at the failed request. */
final class ChunkUpload {

  /** Object with all of its records, to be written. */
  record PendingObject(String key, RecordBuffer records) {}

  private final LogEntry entry;
  private final long firstOffset;
  private final Deque<PendingObject> pending;
  private boolean isEntryWritten;

  /**
   * Prepare the upload of a chunk.
   *
   * @param isEntryWritten true if the log has the entry already and only objects are missing
   * @param firstOffset lowest offset that is not in the store
   */
  ChunkUpload(
      final LogEntry entry,
      final boolean isEntryWritten,
      final long firstOffset,
      final List<PendingObject> objects) {
    this.entry = entry;
    this.isEntryWritten = isEntryWritten;
    this.firstOffset = firstOffset;
    this.pending = new ArrayDeque<>(objects);
  }

  LogEntry entry() {
    return entry;
  }

  long firstOffset() {
    return firstOffset;
  }

  /**
   * Write the log entry and all objects that are still pending.
   *
   * @return false if another task has written a different entry: this chunk must be discarded
   * @throws StoreUnavailableException if the call may succeed later
   */
  boolean run(final ObjectStore store, final ObjectKeys keys) {
    if (!isEntryWritten && !writeEntry(store, keys.logEntry(entry))) {
      return false;
    }
    isEntryWritten = true;
    while (!pending.isEmpty()) {
      final PendingObject object = pending.peek();
      // An object that exists was written by a task that followed the same entry.
      store.putIfAbsent(object.key(), object.records().toByteArray(), JsonLines.CONTENT_TYPE);
      pending.remove();
    }
    return true;
  }

  private boolean writeEntry(final ObjectStore store, final String key) {
    final byte[] json = entry.toJson();
    if (store.putIfAbsent(key, json, LogEntry.CONTENT_TYPE)) {
      return true;
    }
    // Another task was first, or an earlier attempt succeeded and its response was lost.
    return store.get(key).filter(found -> Arrays.equals(found, json)).isPresent();
  }
}
