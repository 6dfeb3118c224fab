// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.observe;

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
 * Reads in the worker's own topic of configurations which connectors were deleted. Two looks at the
 * states show nothing of a connector that was deleted and made again between them. Only keys are
 * looked at, and whether there is a value: what the values hold is Connect's affair.
 */
public final class ConfigTopic implements Deletions {
  private static final Logger LOG = LoggerFactory.getLogger(ConfigTopic.class);
  private static final String KEY_PREFIX = "connector-";
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  private static final Duration CLOSE = Duration.ofMillis(200);

  private final Consumer<byte[], byte[]> consumer;
  private final Set<String> deleted = new HashSet<>();
  private final Set<String> recreated = new HashSet<>();
  private final String topic;
  private boolean isNew;
  private boolean isAssigned;
  private boolean isFailing;

  private ConfigTopic(final String topic, final Consumer<byte[], byte[]> consumer) {
    this.topic = topic;
    this.consumer = consumer;
  }

  /** Follows the topic from now on; where that cannot be, nothing is seen. */
  public static Deletions follow(
      final WorkerProperties worker, final StateSettings settings, final String reader) {
    final String topic = worker.get("config.storage.topic");
    if (topic == null || !settings.clients().containsKey("bootstrap.servers")) {
      return UNSEEN;
    }
    final Map<String, Object> options = new HashMap<>(settings.clients());
    options.put("client.id", "connect-lineage-config-consumer-" + reader);
    options.put("enable.auto.commit", false);
    options.put("allow.auto.create.topics", false);
    options.put("isolation.level", "read_committed");
    return new ConfigTopic(
        topic,
        new KafkaConsumer<>(options, new ByteArrayDeserializer(), new ByteArrayDeserializer()));
  }

  @Override
  public void poll() {
    try {
      if (isAssigned || assign()) {
        for (final ConsumerRecord<byte[], byte[]> message : consumer.poll(Duration.ZERO)) {
          take(message);
        }
      }
      isFailing = false;
    } catch (final KafkaException e) {
      if (!isFailing) {
        isFailing = true;
        LOG.warn(
            "Topic {} cannot be read: a connector that is deleted and at once made again counts as"
                + " one that went on. {}",
            topic,
            e.toString());
      }
    }
  }

  /** In a new cluster the topic is only about to be made; then all that it will hold is news. */
  private boolean assign() {
    final List<PartitionInfo> found = consumer.partitionsFor(topic, TIMEOUT);
    if (found == null || found.isEmpty()) {
      isNew = true;
      return false;
    }
    final List<TopicPartition> partitions =
        found.stream().map(info -> new TopicPartition(topic, info.partition())).toList();
    consumer.assign(partitions);
    if (isNew) {
      consumer.seekToBeginning(partitions);
    } else {
      consumer.seekToEnd(partitions);
    }
    partitions.forEach(partition -> consumer.position(partition, TIMEOUT));
    isAssigned = true;
    return true;
  }

  private void take(final ConsumerRecord<byte[], byte[]> message) {
    if (message.key() == null) {
      return;
    }
    final String key = new String(message.key(), StandardCharsets.UTF_8);
    if (!key.startsWith(KEY_PREFIX)) {
      return;
    }
    final String connector = key.substring(KEY_PREFIX.length());
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
  @SuppressWarnings("deprecation") // What replaces it is missing in workers before Kafka 4.1.
  public void close() {
    consumer.close(CLOSE);
  }
}
