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
 * Archives the topic partitions that Connect assigns to it. What the store does not take stays here
 * and is tried again; meanwhile Connect reads nothing from Kafka, so memory stays bounded.
 */
public final class S3ArchiveSinkTask extends SinkTask {
  private static final Logger LOG = LoggerFactory.getLogger(S3ArchiveSinkTask.class);

  private final Function<ArchiveConfig, ObjectStore> stores;
  private final Clock clock;
  private final Map<TopicPartition, PartitionArchive> partitions = new LinkedHashMap<>();

  /** The records of a batch that failed: Connect hands over the same instances again. */
  private Set<SinkRecord> redelivered = Set.of();

  private ArchiveConfig config;
  private ArchiveParts parts;
  private Outage outage;

  /** As Connect makes it. */
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
    parts = config.parts(stores.apply(config), clock, context.errantRecordReporter());
    outage = new Outage(clock, config.retryTimeoutMs());
  }

  @Override
  public void open(final Collection<TopicPartition> assigned) {
    for (final TopicPartition partition : assigned) {
      partitions.put(
          partition,
          new PartitionArchive(partition, parts, offset -> context.offset(partition, offset)));
    }
    try {
      assigned.forEach(partition -> partitions.get(partition).open());
    } catch (final StoreUnavailableException e) {
      // From here an error would end the task for good; put() may be tried again.
      outage.failed(e);
      LOG.warn("{} Trying again before the first records are archived.", e.getMessage());
    }
  }

  @Override
  public void put(final Collection<SinkRecord> records) {
    try {
      archive(records);
    } catch (final StoreUnavailableException e) {
      redelivered = Collections.newSetFromMap(new IdentityHashMap<>());
      redelivered.addAll(records);
      outage.failed(e);
      context.timeout(config.retryBackoffMs());
      throw e;
    }
    redelivered = Set.of();
    outage.ended();
    partitions.values().stream()
        .mapToLong(PartitionArchive::deadline)
        .min()
        .ifPresent(deadline -> context.timeout(Math.max(1, deadline - clock.millis())));
  }

  @Override
  public Map<TopicPartition, OffsetAndMetadata> preCommit(
      final Map<TopicPartition, OffsetAndMetadata> positions) {
    final Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
    positions.forEach(
        (partition, position) -> {
          final PartitionArchive archive = partitions.get(partition);
          if (archive != null) {
            archive
                .committable(position.offset())
                .ifPresent(offset -> offsets.put(partition, new OffsetAndMetadata(offset)));
          }
        });
    return offsets;
  }

  /** What is not in the store is dropped: whoever gets the partitions reads it again. */
  @Override
  public void close(final Collection<TopicPartition> revoked) {
    revoked.forEach(partitions::remove);
  }

  @Override
  public void stop() {
    if (parts != null) {
      parts.store().close();
    }
  }

  private void archive(final Collection<SinkRecord> records) {
    partitions.values().forEach(archive -> archive.begin(records));
    long buffered = footprint();
    for (final SinkRecord record : records) {
      final PartitionArchive archive =
          partitions.get(
              new TopicPartition(record.originalTopic(), record.originalKafkaPartition()));
      if (archive == null) {
        // Of a partition that was taken away while the batch waited.
        continue;
      }
      final long before = archive.footprint();
      archive.offer(record, redelivered.contains(record));
      buffered += archive.footprint() - before;
      while (buffered > config.bufferBytes()) {
        largest().flush();
        buffered = footprint();
      }
    }
    final long now = clock.millis();
    partitions.values().forEach(archive -> archive.flushIfDue(now));
    partitions.values().forEach(PartitionArchive::end);
  }

  private long footprint() {
    return partitions.values().stream().mapToLong(PartitionArchive::footprint).sum();
  }

  private PartitionArchive largest() {
    return Collections.max(
        partitions.values(), Comparator.comparingLong(PartitionArchive::footprint));
  }
}
