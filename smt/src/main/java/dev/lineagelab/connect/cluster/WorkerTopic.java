// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import dev.lineagelab.connect.settings.StateSettings;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One of the worker's own topics. Reads keys and tombstones only, never the values, whose format is
 * internal to Connect. Not thread-safe.
 */
final class WorkerTopic implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(WorkerTopic.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final Duration CLOSE_TIMEOUT = Duration.ofMillis(200);

  /** Receives the records of the topic. */
  interface Reader {
    /**
     * Read one record.
     *
     * @param isTombstone whether its value is null
     */
    void read(String key, boolean isTombstone);
  }

  private final String topic;
  private final Consumer<byte[], byte[]> consumer;
  private final String consequence;
  private boolean isFromBeginning;
  private boolean isAssigned;
  private boolean isFailing;

  /**
   * Create a reader.
   *
   * @param isFromBeginning whether records are read that are in the topic already
   * @param consequence of a topic that cannot be read, for the log
   */
  WorkerTopic(
      final String topic,
      final Consumer<byte[], byte[]> consumer,
      final boolean isFromBeginning,
      final String consequence) {
    this.topic = topic;
    this.consumer = consumer;
    this.isFromBeginning = isFromBeginning;
    this.consequence = consequence;
  }

  /** Return a consumer of the worker's cluster. */
  static Consumer<byte[], byte[]> consumer(final StateSettings settings, final String clientId) {
    final Map<String, Object> options = new HashMap<>(settings.clients());
    options.put("client.id", clientId);
    options.put("enable.auto.commit", false);
    options.put("allow.auto.create.topics", false);
    options.put("isolation.level", "read_committed");
    return new KafkaConsumer<>(options, new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  /** Read what has arrived since the last call. Never throws. */
  void poll(final Reader reader) {
    try {
      if (isAssigned || assign()) {
        for (final ConsumerRecord<byte[], byte[]> message : consumer.poll(Duration.ZERO)) {
          if (message.key() != null) {
            reader.read(new String(message.key(), StandardCharsets.UTF_8), message.value() == null);
          }
        }
      }
      isFailing = false;
    } catch (final KafkaException e) {
      if (!isFailing) {
        isFailing = true;
        LOG.warn("Cannot read topic {}: {}: {}", topic, consequence, e.toString());
      }
    }
  }

  /** A topic that does not exist yet is read from its beginning once it does. */
  private boolean assign() {
    final List<PartitionInfo> found = consumer.partitionsFor(topic, TIMEOUT);
    if (found == null || found.isEmpty()) {
      isFromBeginning = true;
      return false;
    }
    final List<TopicPartition> partitions =
        found.stream().map(info -> new TopicPartition(topic, info.partition())).toList();
    consumer.assign(partitions);
    if (isFromBeginning) {
      consumer.seekToBeginning(partitions);
    } else {
      consumer.seekToEnd(partitions);
    }
    partitions.forEach(partition -> consumer.position(partition, TIMEOUT));
    isAssigned = true;
    return true;
  }

  /** Return whether every record is read at present. */
  boolean isReading() {
    return isAssigned && !isFailing;
  }

  @Override
  @SuppressWarnings("deprecation") // Its replacement does not exist in workers before Kafka 4.1.
  public void close() {
    consumer.close(CLOSE_TIMEOUT);
  }
}
