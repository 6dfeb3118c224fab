// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.time.Clock;
import java.util.List;
import org.apache.kafka.connect.errors.ConnectException;

/**
 * What the partitions of a task share.
 *
 * @param format of new objects
 * @param formats all, for objects that were planned with other settings
 */
record ArchiveParts(
    ObjectStore store,
    ObjectNames names,
    ArchiveMarker marker,
    RecordFormat format,
    List<RecordFormat> formats,
    TimestampExtractor timestamps,
    TimePartitioner partitioner,
    RotationPolicy rotation,
    NullValues nullValues,
    ErrantRecords errants,
    Clock clock) {

  ArchiveLog log() {
    return new ArchiveLog(store, names);
  }

  /** The format of an object, by its name. */
  RecordFormat formatOf(final String key) {
    return formats.stream()
        .filter(candidate -> key.endsWith("." + candidate.extension()))
        .findFirst()
        .orElseThrow(
            () ->
                new ConnectException(
                    "Writing "
                        + key
                        + ", which a log entry names: its format is unknown. Run the version of "
                        + "this connector that wrote the entry."));
  }
}
