// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import dev.lineagelab.archive.LogEntry.PlannedObject;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.sink.SinkRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One topic partition as long as a task has it. At any time it collects a new chunk, or collects
 * again what an entry of the log names and the store does not have, or has a chunk on its way into
 * the store. Every method may throw {@link StoreUnavailableException}: the same call is then to be
 * made again.
 */
final class PartitionArchive {
  private static final Logger LOG = LoggerFactory.getLogger(PartitionArchive.class);

  private final TopicPartition partition;
  private final ArchiveParts parts;
  private final LongConsumer seek;

  /** Records that Connect hands over although the consumer was told to go elsewhere. */
  private final Set<SinkRecord> stale = Collections.newSetFromMap(new IdentityHashMap<>());

  private final ReadPosition position = new ReadPosition();
  private Collection<SinkRecord> batch = List.of();
  private boolean isLocated;

  /** The offset after the last chunk: what the next entry of the log is named for. */
  private long start;

  /** The lowest offset that was not handled. */
  private long next;

  /** Where to go on if the log is found empty; empty where the consumer is right as it is. */
  private OptionalLong dropped = OptionalLong.empty();

  private OpenChunk chunk;
  private Redo redo;
  private boolean isRedoPassed;
  private Upload upload;

  /**
   * Knows nothing yet.
   *
   * @param seek tells the consumer of the partition where to go on
   */
  PartitionArchive(
      final TopicPartition partition, final ArchiveParts parts, final LongConsumer seek) {
    this.partition = partition;
    this.parts = parts;
    this.seek = seek;
  }

  /** To be called when the partition is assigned: finds out where to go on, and goes there. */
  void open() {
    locate();
    position.assigned();
  }

  /** To be called before the records of a batch are offered, with all of them. */
  void begin(final Collection<SinkRecord> records) {
    batch = records;
    if (!isLocated) {
      locate();
    }
    if (upload != null) {
      finishUpload();
    }
    if (isRedoPassed) {
      sealRedo();
    }
  }

  /**
   * Archives a record, sooner or later.
   *
   * @param isRedelivered whether Connect has handed over the same batch before
   */
  void offer(final SinkRecord record, final boolean isRedelivered) {
    if (stale.contains(record)) {
      return;
    }
    final long offset = record.originalKafkaOffset();
    if (offset < next) {
      if (!isRedelivered) {
        throw new TopicReplacedException(
            partition, offset, next, parts.names().logPrefix(partition));
      }
      return;
    }
    if (redo != null && offset > redo.entry().end()) {
      sealRedo();
    }
    if (redo != null) {
      again(record, offset);
    } else {
      archive(record, offset);
    }
  }

  /** Ends the chunk if its time has come. */
  void flushIfDue(final long now) {
    if (now >= deadline()) {
      flush();
    }
  }

  /** To be called when a batch was taken whole: Connect's position then is behind it. */
  void end() {
    position.taken();
    batch = List.of();
    stale.clear();
  }

  /** Ends the chunk and writes it. */
  void flush() {
    if (chunk != null) {
      upload = chunk.seal(parts.names(), parts.format().extension());
      chunk = null;
      finishUpload();
    }
  }

  /** When the chunk ends by the clock; epoch milliseconds. */
  long deadline() {
    return chunk == null ? Long.MAX_VALUE : parts.rotation().deadline(chunk.openedAt());
  }

  /** Bytes that the open chunk takes: what a flush would free. */
  long footprint() {
    return chunk == null ? 0 : chunk.footprint();
  }

  /**
   * The offset up to which everything is in the store, or left out for good.
   *
   * @param consumed where the consumer goes on, all before it having been handed over
   */
  OptionalLong committable(final long consumed) {
    if (upload != null) {
      return OptionalLong.of(upload.firstOffset());
    }
    if (redo != null) {
      isRedoPassed |= position.isKnown() && consumed > redo.entry().end();
      return OptionalLong.of(redo.from());
    }
    if (chunk != null) {
      return OptionalLong.of(chunk.firstOffset());
    }
    return isLocated && position.isKnown() ? OptionalLong.of(consumed) : OptionalLong.empty();
  }

  private void locate() {
    parts.marker().ensure(parts.store());
    final Optional<ArchiveLog.Newest> newest = parts.log().newest(partition);
    redo = null;
    isRedoPassed = false;
    if (newest.isPresent()) {
      goOnAfter(newest.get());
    } else {
      start = 0;
      next = 0;
      dropped.ifPresent(this::goOnAt);
      LOG.info("{}: nothing is archived yet", partition);
    }
    dropped = OptionalLong.empty();
    isLocated = true;
  }

  private void goOnAfter(final ArchiveLog.Newest newest) {
    start = newest.entry().end() + 1;
    if (newest.missing().isEmpty()) {
      next = start;
      LOG.info("{}: archived up to offset {}", partition, newest.entry().end());
    } else {
      redo = new Redo(newest.entry(), newest.missing());
      next = redo.from();
      LOG.info(
          "{}: {} of the objects that {} names are missing: reading again from offset {}",
          partition,
          newest.missing().size(),
          newest.key(),
          next);
    }
    goOnAt(next);
  }

  /** The batch is from where the consumer was. */
  private void goOnAt(final long offset) {
    seek.accept(offset);
    position.sought();
    batch.stream().filter(this::isOfPartition).forEach(stale::add);
  }

  private boolean isOfPartition(final SinkRecord record) {
    return record.originalKafkaPartition() == partition.partition()
        && record.originalTopic().equals(partition.topic());
  }

  private void again(final SinkRecord record, final long offset) {
    final Optional<PlannedObject> object = redo.objectOf(offset);
    if (object.isPresent()) {
      try {
        redo.add(object.get(), record, parts.formatOf(object.get().key()));
      } catch (final DataException e) {
        parts.errants().report(record, e);
      }
    }
    handled(offset);
    if (offset == redo.entry().end()) {
      sealRedo();
    }
  }

  private void archive(final SinkRecord record, final long offset) {
    final long timestamp;
    final RecordFormat.Layout layout;
    final byte[] encoded;
    try {
      if (record.value() == null && isLeftOut()) {
        leaveOut(offset);
        return;
      }
      timestamp = parts.timestamps().timestampOf(record);
      layout = parts.format().layoutOf(record);
      encoded = layout.encode(record);
    } catch (final DataException e) {
      parts.errants().report(record, e);
      leaveOut(offset);
      return;
    }
    final String path = parts.partitioner().pathOf(timestamp);
    if (chunk != null
        && parts.rotation().isTooLate(chunk.firstTimestamp(path, layout, timestamp), timestamp)) {
      flush();
      if (stale.contains(record)) {
        return;
      }
    }
    if (chunk == null) {
      chunk = new OpenChunk(partition, start, parts.clock().millis());
    }
    chunk.add(offset, path, layout, timestamp, encoded);
    handled(offset);
    if (parts.rotation().isComplete(chunk)) {
      flush();
    }
  }

  private boolean isLeftOut() {
    if (parts.nullValues() == NullValues.FAIL) {
      throw new DataException(
          "its value is null, and " + Options.BEHAVIOR_ON_NULL_VALUES + " is fail");
    }
    return parts.nullValues() == NullValues.IGNORE;
  }

  private void leaveOut(final long offset) {
    if (chunk != null) {
      chunk.leaveOut();
    }
    handled(offset);
  }

  private void handled(final long offset) {
    next = offset + 1;
    position.handled();
  }

  private void sealRedo() {
    for (final String key : redo.lost()) {
      LOG.warn("{}: {} cannot be written: Kafka has none of its records any more", partition, key);
    }
    upload = redo.seal(parts.names());
    redo = null;
    isRedoPassed = false;
    finishUpload();
  }

  private void finishUpload() {
    if (upload.run(parts.store())) {
      start = upload.entry().end() + 1;
      upload = null;
    } else {
      LOG.warn("{}: another task has archived from offset {} on: following it", partition, start);
      dropped = OptionalLong.of(upload.firstOffset());
      upload = null;
      isLocated = false;
      locate();
    }
  }
}
