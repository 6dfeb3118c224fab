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
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.sink.SinkRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Archiver of one topic partition, from its assignment to a task until its revocation. It is in one
 * of three states: buffering a new chunk, rebuilding missing objects of the newest log entry, or
 * uploading a chunk. Every method may throw {@link StoreUnavailableException}; the same call must
 * then be repeated.
 */
final class PartitionArchiver {
  private static final Logger LOG = LoggerFactory.getLogger(PartitionArchiver.class);

  private final TopicPartition partition;
  private final ArchiveContext archive;
  private final LongConsumer seek;

  /** Records of the current batch that were fetched before a seek. */
  private final Set<SinkRecord> stale = Collections.newSetFromMap(new IdentityHashMap<>());

  private final ConsumerPosition position = new ConsumerPosition();
  private Collection<SinkRecord> batch = List.of();
  private boolean isResumed;

  /** First offset after the previous chunk: the key of the next log entry is derived from it. */
  private long start;

  /** Lowest offset that was not processed. */
  private long next;

  /** Offset to seek to if the log turns out to be empty; empty if no seek is needed. */
  private OptionalLong discarded = OptionalLong.empty();

  private OpenChunk chunk;
  private MissingObjects missing;
  private boolean isPastMissing;
  private ChunkUpload upload;

  /**
   * Create an archiver that has not read the log yet.
   *
   * @param seek moves the consumer of the partition to an offset
   */
  PartitionArchiver(
      final TopicPartition partition, final ArchiveContext archive, final LongConsumer seek) {
    this.partition = partition;
    this.archive = archive;
    this.seek = seek;
  }

  /** Read the log and seek to where it ends; to be called when the partition is assigned. */
  void open() {
    resume();
    position.onAssigned();
  }

  /** Retry what failed before; to be called with each batch before its records are offered. */
  void beginBatch(final Collection<SinkRecord> records) {
    batch = records;
    if (!isResumed) {
      resume();
    }
    if (upload != null) {
      finishUpload();
    }
    if (isPastMissing) {
      uploadMissing();
    }
  }

  /**
   * Buffer a record, and write its chunk if that is complete.
   *
   * @param isRedelivered true if Connect delivers the batch again after a failure
   * @throws ConnectException if the offset is archived already and was not redelivered
   */
  void offer(final SinkRecord record, final boolean isRedelivered) {
    if (stale.contains(record)) {
      return;
    }
    final long offset = record.originalKafkaOffset();
    if (offset < next) {
      if (!isRedelivered) {
        throw topicRecreated(offset);
      }
      return;
    }
    if (missing != null && offset > missing.entry().end()) {
      uploadMissing();
    }
    if (missing != null) {
      rebuild(record, offset);
    } else {
      buffer(record, offset);
    }
  }

  /** Write the chunk if its deadline has passed; {@code now} in epoch milliseconds. */
  void flushIfDue(final long now) {
    if (now >= deadline()) {
      flush();
    }
  }

  /** Complete a batch; to be called when all of its records have been offered. */
  void endBatch() {
    position.onBatchEnd();
    batch = List.of();
    stale.clear();
  }

  /** Close the chunk and write it. */
  void flush() {
    if (chunk != null) {
      upload = chunk.close(archive.keys());
      chunk = null;
      finishUpload();
    }
  }

  /** Return the time by which the chunk must be written; epoch milliseconds. */
  long deadline() {
    return chunk == null ? Long.MAX_VALUE : archive.rotation().deadline(chunk.openedAt());
  }

  /** Return the memory that a flush would free, in bytes. */
  long footprint() {
    return chunk == null ? 0 : chunk.footprint();
  }

  /**
   * Return the offset below which every record is in the store or skipped for good.
   *
   * @param consumed position of the consumer; all records below it have been delivered
   * @return empty if nothing may be committed yet
   */
  OptionalLong committable(final long consumed) {
    if (upload != null) {
      return OptionalLong.of(upload.firstOffset());
    }
    if (missing != null) {
      isPastMissing |= position.isValid() && consumed > missing.entry().end();
      return OptionalLong.of(missing.firstOffset());
    }
    if (chunk != null) {
      return OptionalLong.of(chunk.firstOffset());
    }
    return isResumed && position.isValid() ? OptionalLong.of(consumed) : OptionalLong.empty();
  }

  private void resume() {
    final Optional<WriteAheadLog.Newest> newest = archive.log().newest(partition);
    missing = null;
    isPastMissing = false;
    if (newest.isPresent()) {
      resumeAfter(newest.get());
    } else {
      start = 0;
      next = 0;
      discarded.ifPresent(this::seekTo);
      LOG.info("{}: the archive is empty", partition);
    }
    discarded = OptionalLong.empty();
    isResumed = true;
  }

  private void resumeAfter(final WriteAheadLog.Newest newest) {
    start = newest.entry().end() + 1;
    if (newest.missing().isEmpty()) {
      next = start;
      LOG.info("{}: archived up to offset {}", partition, newest.entry().end());
    } else {
      missing = new MissingObjects(newest.entry(), newest.missing());
      next = missing.firstOffset();
      LOG.info(
          "{}: {} objects of log entry {} are missing; rebuilding them from offset {}",
          partition,
          newest.missing().size(),
          archive.keys().logEntry(newest.entry()),
          next);
    }
    seekTo(next);
  }

  /** Move the consumer; the rest of the current batch was fetched from its previous position. */
  private void seekTo(final long offset) {
    seek.accept(offset);
    position.onSeek();
    batch.stream().filter(this::isOfPartition).forEach(stale::add);
  }

  private boolean isOfPartition(final SinkRecord record) {
    return record.originalKafkaPartition() == partition.partition()
        && record.originalTopic().equals(partition.topic());
  }

  private void rebuild(final SinkRecord record, final long offset) {
    final Optional<PlannedObject> object = missing.objectOf(offset);
    if (object.isPresent()) {
      try {
        missing.add(object.get(), JsonLines.encode(record));
      } catch (final DataException e) {
        archive.errantRecords().report(record, e);
      }
    }
    markProcessed(offset);
    if (offset == missing.entry().end()) {
      uploadMissing();
    }
  }

  private void buffer(final SinkRecord record, final long offset) {
    if (record.value() == null) {
      skip(offset);
      return;
    }
    final long timestamp;
    final byte[] line;
    try {
      timestamp = timestampOf(record);
      line = JsonLines.encode(record);
    } catch (final DataException e) {
      archive.errantRecords().report(record, e);
      skip(offset);
      return;
    }
    if (chunk == null) {
      chunk = new OpenChunk(partition, start, archive.clock().millis());
    }
    chunk.add(offset, timestamp, line);
    markProcessed(offset);
    if (archive.rotation().isComplete(chunk)) {
      flush();
    }
  }

  private static long timestampOf(final SinkRecord record) {
    if (record.timestamp() == null || record.timestamp() < 0) {
      throw new DataException(
          "the record has no timestamp: set message.timestamp.type=LogAppendTime on its topic");
    }
    return record.timestamp();
  }

  /** Leave a record out of the archive: a tombstone, or a record that was reported. */
  private void skip(final long offset) {
    if (chunk != null) {
      chunk.skip();
    }
    markProcessed(offset);
  }

  private void markProcessed(final long offset) {
    next = offset + 1;
    position.onRecord();
  }

  private void uploadMissing() {
    for (final String key : missing.lost()) {
      LOG.warn("{}: cannot rebuild {}: Kafka has deleted all of its records", partition, key);
    }
    upload = missing.close();
    missing = null;
    isPastMissing = false;
    finishUpload();
  }

  private void finishUpload() {
    if (upload.run(archive.store(), archive.keys())) {
      start = upload.entry().end() + 1;
      upload = null;
    } else {
      LOG.warn("{}: fenced: another task has archived from offset {} on", partition, start);
      discarded = OptionalLong.of(upload.firstOffset());
      upload = null;
      isResumed = false;
      resume();
    }
  }

  private ConnectException topicRecreated(final long offset) {
    return new ConnectException(
        ("Archiving %s: Kafka delivers offset %d, but the archive in %s contains all offsets below "
                + "%d. The topic was deleted and created again. Set %s to another folder, or delete "
                + "the topic's folder from the bucket.")
            .formatted(
                partition,
                offset,
                archive.keys().logPrefix(partition),
                next,
                ArchiveConfig.TOPICS_DIR));
  }
}
