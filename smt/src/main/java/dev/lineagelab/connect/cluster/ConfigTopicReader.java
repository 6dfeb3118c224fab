// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import dev.lineagelab.connect.settings.StateSettings;
import dev.lineagelab.connect.settings.WorkerProperties;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
 * Detects changes and deletions in the worker's config topic: polling misses a connector that is
 * deleted and created again between two polls, and asking for every configuration at every poll is
 * work for the herder. Reads keys and tombstones only, never the values, whose format is internal
 * to Connect.
 */
public final class ConfigTopicReader implements DeletionDetector {
  private static final Logger LOG = LoggerFactory.getLogger(ConfigTopicReader.class);
  private static final String KEY_PREFIX = "connector-";
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final Duration CLOSE_TIMEOUT = Duration.ofMillis(200);

  private final Consumer<byte[], byte[]> consumer;
  private final Set<String> deleted = new HashSet<>();
  private final Set<String> recreated = new HashSet<>();
  private final Set<String> changed = new HashSet<>();
  private final String topic;
  private boolean isTopicNew;
  private boolean isAssigned;
  private boolean isFailing;

  private ConfigTopicReader(final String topic, final Consumer<byte[], byte[]> consumer) {
    this.topic = topic;
    this.consumer = consumer;
  }

  /** Read the config topic from its end on; {@link #NONE} for a worker without one. */
  public static DeletionDetector open(
      final WorkerProperties worker, final StateSettings settings, final String pluginId) {
    final String topic = worker.get("config.storage.topic");
    if (topic == null || !settings.clients().containsKey("bootstrap.servers")) {
      return NONE;
    }
    final Map<String, Object> options = new HashMap<>(settings.clients());
    options.put("client.id", "connect-lineage-config-consumer-" + pluginId);
    options.put("enable.auto.commit", false);
    options.put("allow.auto.create.topics", false);
    options.put("isolation.level", "read_committed");
    return new ConfigTopicReader(
        topic,
        new KafkaConsumer<>(options, new ByteArrayDeserializer(), new ByteArrayDeserializer()));
  }

  @Override
  public void poll() {
    try {
      if (isAssigned || assign()) {
        for (final ConsumerRecord<byte[], byte[]> message : consumer.poll(Duration.ZERO)) {
          process(message);
        }
      }
      isFailing = false;
    } catch (final KafkaException e) {
      if (!isFailing) {
        isFailing = true;
        LOG.warn(
            "Cannot read config topic {}: a connector that is deleted and recreated between two"
                + " polls continues its run: {}",
            topic,
            e.toString());
      }
    }
  }

  /** A topic that does not exist yet is read from its beginning once it does. */
  private boolean assign() {
    final List<PartitionInfo> found = consumer.partitionsFor(topic, TIMEOUT);
    if (found == null || found.isEmpty()) {
      isTopicNew = true;
      return false;
    }
    final List<TopicPartition> partitions =
        found.stream().map(info -> new TopicPartition(topic, info.partition())).toList();
    consumer.assign(partitions);
    if (isTopicNew) {
      consumer.seekToBeginning(partitions);
    } else {
      consumer.seekToEnd(partitions);
    }
    partitions.forEach(partition -> consumer.position(partition, TIMEOUT));
    isAssigned = true;
    return true;
  }

  private void process(final ConsumerRecord<byte[], byte[]> message) {
    if (message.key() == null) {
      return;
    }
    final String key = new String(message.key(), StandardCharsets.UTF_8);
    if (!key.startsWith(KEY_PREFIX)) {
      return;
    }
    final String connector = key.substring(KEY_PREFIX.length());
    changed.add(connector);
    if (message.value() == null) {
      deleted.add(connector);
    } else if (deleted.remove(connector)) {
      recreated.add(connector);
    }
  }

  @Override
  public boolean isDeleted(final String connector) {
    return deleted.contains(connector);
  }

  @Override
  public Set<String> takeRecreated() {
    final Set<String> taken = Set.copyOf(recreated);
    recreated.clear();
    return taken;
  }

  @Override
  public Set<String> takeChanged() {
    final Set<String> taken = Set.copyOf(changed);
    changed.clear();
    return taken;
  }

  @Override
  public boolean isReading() {
    return isAssigned && !isFailing;
  }

  @Override
  @SuppressWarnings("deprecation") // Its replacement does not exist in workers before Kafka 4.1.
  public void close() {
    consumer.close(CLOSE_TIMEOUT);
  }
}
