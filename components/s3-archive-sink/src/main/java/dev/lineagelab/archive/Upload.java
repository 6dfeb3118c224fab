// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;

/**
 * A chunk on its way into the store: the log entry, then the objects. What fails is tried again
 * from where it failed.
 */
final class Upload {

  /** One object with all its records. */
  record EncodedObject(String key, RecordFormat.Layout layout, EncodedRecords records) {}

  private final LogEntry entry;
  private final String entryKey;
  private final long firstOffset;
  private final Deque<EncodedObject> remaining;
  private boolean entryWritten;

  /**
   * Takes a chunk.
   *
   * @param firstOffset of the records that are not in the store
   * @param entryWritten whether the entry is in the log already
   */
  Upload(
      final LogEntry entry,
      final String entryKey,
      final long firstOffset,
      final List<EncodedObject> objects,
      final boolean entryWritten) {
    this.entry = entry;
    this.entryKey = entryKey;
    this.firstOffset = firstOffset;
    this.remaining = new ArrayDeque<>(objects);
    this.entryWritten = entryWritten;
  }

  LogEntry entry() {
    return entry;
  }

  long firstOffset() {
    return firstOffset;
  }

  /**
   * Writes what is not written yet.
   *
   * @return false if another task has decided about the chunk: nothing of this one may be written
   * @throws StoreUnavailableException to be called again
   */
  boolean run(final ObjectStore store) {
    if (!entryWritten && !writeEntry(store)) {
      return false;
    }
    entryWritten = true;
    while (!remaining.isEmpty()) {
      final EncodedObject object = remaining.peek();
      // One that is there was written by a task that followed the same entry.
      store.putIfAbsent(
          object.key(),
          object.layout().assemble(object.key(), object.records()),
          object.layout().contentType());
      remaining.remove();
    }
    return true;
  }

  private boolean writeEntry(final ObjectStore store) {
    final byte[] json = entry.toJson();
    if (store.putIfAbsent(entryKey, json, LogEntry.CONTENT_TYPE)) {
      return true;
    }
    // Either somebody was first, or an earlier attempt of this task succeeded and was not answered.
    return store.get(entryKey).filter(found -> Arrays.equals(found, json)).isPresent();
  }
}
