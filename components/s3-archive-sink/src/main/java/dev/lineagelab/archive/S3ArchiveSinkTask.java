// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.time.Clock;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Task that archives its assigned topic partitions. While the store is unavailable the current
 * batch is retried and Connect fetches nothing from Kafka, so memory stays bounded.
 */
public final class S3ArchiveSinkTask extends SinkTask {
  private static final Logger LOG = LoggerFactory.getLogger(S3ArchiveSinkTask.class);

  /** Delay before Connect delivers a batch again that the store did not accept. */
  private static final long RETRY_BACKOFF_MS = 5_000;

  private final Function<ArchiveConfig, ObjectStore> stores;
  private final Clock clock;
  private final Map<TopicPartition, PartitionArchiver> partitions = new LinkedHashMap<>();

  /** Records of the batch that failed last: Connect delivers the same instances again. */
  private Set<SinkRecord> redelivered = Set.of();

  private ArchiveConfig config;
  private ArchiveContext archive;
  private RetryTimeout retryTimeout;

  /** Create a task on Amazon S3 or a compatible store; Connect calls {@link #start} next. */
  public S3ArchiveSinkTask() {
    this(S3ObjectStore::open, Clock.systemUTC());
  }

  S3ArchiveSinkTask(final Function<ArchiveConfig, ObjectStore> stores, final Clock clock) {
    this.stores = stores;
    this.clock = clock;
  }

  @Override
  public String version() {
    return S3ArchiveSinkConnector.VERSION;
  }

  @Override
  public void start(final Map<String, String> options) {
    config = new ArchiveConfig(options);
    final ObjectStore store = stores.apply(config);
    archive =
        new ArchiveContext(
            store,
            config.keys(),
            new WriteAheadLog(store, config.keys()),
            config.rotation(),
            new ErrantRecordHandler(context.errantRecordReporter(), config.toleratesErrors()),
            clock);
    retryTimeout = new RetryTimeout(clock, config.getLong(ArchiveConfig.RETRY_TIMEOUT_MS));
    verifyStore();
  }

  @Override
  public void open(final Collection<TopicPartition> assigned) {
    for (final TopicPartition partition : assigned) {
      partitions.put(
          partition,
          new PartitionArchiver(partition, archive, offset -> context.offset(partition, offset)));
    }
    try {
      assigned.forEach(partition -> partitions.get(partition).open());
    } catch (final StoreUnavailableException e) {
      // An exception thrown here would fail the task; put() may be retried.
      retryTimeout.onFailure(e);
      LOG.warn("{} Retrying with the first batch.", e.getMessage());
    }
  }

  @Override
  public void put(final Collection<SinkRecord> records) {
    try {
      archive(records);
    } catch (final StoreUnavailableException e) {
      redelivered = Collections.newSetFromMap(new IdentityHashMap<>());
      redelivered.addAll(records);
      retryTimeout.onFailure(e);
      context.timeout(RETRY_BACKOFF_MS);
      throw e;
    }
    redelivered = Set.of();
    retryTimeout.onSuccess();
    partitions.values().stream()
        .mapToLong(PartitionArchiver::deadline)
        .min()
        .ifPresent(deadline -> context.timeout(Math.max(1, deadline - clock.millis())));
  }

  @Override
  public Map<TopicPartition, OffsetAndMetadata> preCommit(
      final Map<TopicPartition, OffsetAndMetadata> positions) {
    final Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
    positions.forEach(
        (partition, position) -> {
          final PartitionArchiver archiver = partitions.get(partition);
          if (archiver != null) {
            archiver
                .committable(position.offset())
                .ifPresent(offset -> offsets.put(partition, new OffsetAndMetadata(offset)));
          }
        });
    return offsets;
  }

  /** Drop buffered records: the task that gets the partitions reads them again. */
  @Override
  public void close(final Collection<TopicPartition> revoked) {
    revoked.forEach(partitions::remove);
  }

  @Override
  public void stop() {
    if (archive != null) {
      archive.store().close();
    }
  }

  /** Fail before Connect reports the task as running, if the store denies access. */
  private void verifyStore() {
    try {
      archive.log().verifyStore();
    } catch (final StoreUnavailableException e) {
      LOG.warn("{} Retrying once partitions are assigned.", e.getMessage());
    }
  }

  private void archive(final Collection<SinkRecord> records) {
    partitions.values().forEach(archiver -> archiver.beginBatch(records));
    final long bufferBytes = config.getLong(ArchiveConfig.BUFFER_BYTES);
    long buffered = footprint();
    for (final SinkRecord record : records) {
      final PartitionArchiver archiver =
          partitions.get(
              new TopicPartition(record.originalTopic(), record.originalKafkaPartition()));
      if (archiver == null) {
        // The partition was revoked while the batch waited for a retry.
        continue;
      }
      final long before = archiver.footprint();
      archiver.offer(record, redelivered.contains(record));
      buffered += archiver.footprint() - before;
      while (buffered > bufferBytes) {
        largest().flush();
        buffered = footprint();
      }
    }
    final long now = clock.millis();
    partitions.values().forEach(archiver -> archiver.flushIfDue(now));
    partitions.values().forEach(PartitionArchiver::endBatch);
  }

  private long footprint() {
    return partitions.values().stream().mapToLong(PartitionArchiver::footprint).sum();
  }

  private PartitionArchiver largest() {
    return Collections.max(
        partitions.values(), Comparator.comparingLong(PartitionArchiver::footprint));
  }
}
