// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.sink.ErrantRecordReporter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;
import org.apache.kafka.connect.sink.SinkTaskContext;

/**
 * Simulation of a Connect worker with one sink task: assignment, seeks before a fetch, batches,
 * redelivery of a batch after a RetriableException without another fetch, and commits of the
 * offsets that the task allows.
 */
final class SimulatedWorker {
  private final SinkTask task;
  private final Map<String, String> options;
  private final SimulatedTopics topics;
  private final ErrantRecordReporter reporter;
  private final Map<TopicPartition, Long> positions = new HashMap<>();
  private final Map<TopicPartition, Long> delivered = new HashMap<>();
  private final Map<TopicPartition, Long> seeks = new HashMap<>();
  private List<SinkRecord> batch = List.of();
  private boolean isPaused;
  private long timeout = -1;

  SimulatedWorker(
      final SinkTask task,
      final Map<String, String> options,
      final SimulatedTopics topics,
      final ErrantRecordReporter reporter) {
    this.task = task;
    this.options = options;
    this.topics = topics;
    this.reporter = reporter;
  }

  /** Create a worker with a task of this connector. */
  static SimulatedWorker of(
      final Map<String, String> options,
      final SimulatedTopics topics,
      final Clock clock,
      final ErrantRecordReporter reporter) {
    return new SimulatedWorker(
        new S3ArchiveSinkTask(S3ObjectStore::open, clock), options, topics, reporter);
  }

  SimulatedWorker start() {
    task.initialize(new Context());
    task.start(options);
    return this;
  }

  void assign(final Collection<TopicPartition> partitions) {
    for (final TopicPartition partition : partitions) {
      positions.put(partition, topics.committed(partition));
      delivered.put(partition, topics.committed(partition));
    }
    task.open(partitions);
    rewind();
  }

  /**
   * Revoke partitions; {@code isLost} if another task owns them already, so nothing is committed.
   */
  void revoke(final Collection<TopicPartition> partitions, final boolean isLost) {
    if (!isLost) {
      commit(partitions);
    }
    task.close(partitions);
    positions.keySet().removeAll(partitions);
    delivered.keySet().removeAll(partitions);
    batch = batch.stream().filter(record -> !partitions.contains(partitionOf(record))).toList();
  }

  /** Run one iteration: apply seeks, fetch, deliver. */
  void poll(final int maxRecords) {
    rewind();
    if (!isPaused) {
      final List<SinkRecord> fetched = new ArrayList<>();
      for (final TopicPartition partition : positions.keySet()) {
        final List<SinkRecord> records =
            topics.read(
                partition,
                positions.get(partition),
                Math.max(1, maxRecords / Math.max(1, positions.size())));
        fetched.addAll(records);
        if (!records.isEmpty()) {
          positions.put(partition, records.get(records.size() - 1).kafkaOffset() + 1);
        }
      }
      batch = fetched;
    }
    try {
      task.put(new ArrayList<>(batch));
      batch.forEach(record -> delivered.put(partitionOf(record), record.kafkaOffset() + 1));
      batch = List.of();
      isPaused = false;
    } catch (final RetriableException e) {
      isPaused = true;
    }
  }

  boolean isPaused() {
    return isPaused;
  }

  /** Return the timeout in milliseconds that the task requested; -1 for none. */
  long timeout() {
    return timeout;
  }

  void commitAll() {
    commit(List.copyOf(positions.keySet()));
  }

  /** Return the offsets that the task allows to commit. */
  Map<TopicPartition, Long> committable() {
    final Map<TopicPartition, OffsetAndMetadata> current = new HashMap<>();
    delivered.forEach((partition, offset) -> current.put(partition, new OffsetAndMetadata(offset)));
    final Map<TopicPartition, Long> allowed = new HashMap<>();
    task.preCommit(current)
        .forEach(
            (partition, offset) -> {
              if (offset.offset() <= delivered.get(partition)) {
                allowed.put(partition, offset.offset());
              }
            });
    return allowed;
  }

  Set<TopicPartition> assignment() {
    return new LinkedHashSet<>(positions.keySet());
  }

  void stop() {
    revoke(assignment(), false);
    task.stop();
  }

  /** Release resources without a commit, like a killed process. */
  void kill() {
    task.stop();
  }

  private void commit(final Collection<TopicPartition> partitions) {
    committable()
        .forEach(
            (partition, offset) -> {
              if (partitions.contains(partition)) {
                topics.commit(partition, offset);
              }
            });
  }

  private void rewind() {
    seeks.forEach(
        (partition, offset) -> {
          if (positions.containsKey(partition)) {
            // Beyond the end of the log the consumer resets to the earliest offset.
            final long target = offset > topics.end(partition) ? 0 : offset;
            positions.put(partition, target);
            delivered.put(partition, offset);
          }
        });
    seeks.clear();
  }

  private static TopicPartition partitionOf(final SinkRecord record) {
    return new TopicPartition(record.topic(), record.kafkaPartition());
  }

  private final class Context implements SinkTaskContext {
    @Override
    public Map<String, String> configs() {
      return options;
    }

    @Override
    public void offset(final Map<TopicPartition, Long> offsets) {
      seeks.putAll(offsets);
    }

    @Override
    public void offset(final TopicPartition partition, final long offset) {
      seeks.put(partition, offset);
    }

    @Override
    public void timeout(final long milliseconds) {
      timeout = milliseconds;
    }

    @Override
    public Set<TopicPartition> assignment() {
      return SimulatedWorker.this.assignment();
    }

    @Override
    public void pause(final TopicPartition... partitions) {
      throw new UnsupportedOperationException("the task never pauses");
    }

    @Override
    public void resume(final TopicPartition... partitions) {
      throw new UnsupportedOperationException("the task never pauses");
    }

    @Override
    public void requestCommit() {
      throw new UnsupportedOperationException("the task never asks for a commit");
    }

    @Override
    public ErrantRecordReporter errantRecordReporter() {
      return reporter;
    }

    @Override
    public PluginMetrics pluginMetrics() {
      throw new UnsupportedOperationException("the task has no metrics");
    }
  }
}
