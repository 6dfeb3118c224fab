// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import dev.lineagelab.archive.LogEntry.PlannedObject;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.TopicPartition;

/** The logs of all topic partitions: what was decided, and how far it was carried out. */
record ArchiveLog(ObjectStore store, ObjectNames names) {

  /**
   * The newest entry of a topic partition.
   *
   * @param missing those of its objects that are not in the store
   */
  record Newest(String key, LogEntry entry, List<PlannedObject> missing) {}

  /** Empty if nothing of the partition is archived. Takes two requests, and one for each object. */
  Optional<Newest> newest(final TopicPartition partition) {
    return store.first(names.logPrefix(partition)).map(this::read);
  }

  private Newest read(final String key) {
    final byte[] json =
        store
            .get(key)
            .orElseThrow(
                () ->
                    new StoreUnavailableException(
                        "The archive's log entry " + key + " is listed but not there.", null));
    final LogEntry entry = LogEntry.parse(key, json);
    return new Newest(
        key,
        entry,
        entry.objects().stream().filter(object -> !store.exists(object.key())).toList());
  }
}
