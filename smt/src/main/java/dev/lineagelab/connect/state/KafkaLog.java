// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import dev.lineagelab.connect.settings.StateSettings;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps values in a compacted topic. A worker's own records come back to it and are passed over.
 */
final class KafkaLog implements StateLog {
  private static final Logger LOG = LoggerFactory.getLogger(KafkaLog.class);
  private static final String WRITER = "writer";
  private static final int BLOCK_MS = 3000;
  private static final Duration CATCH_UP = Duration.ofSeconds(10);
  private static final Duration CLOSE = Duration.ofMillis(300);

  private final String topic;
  private final byte[] writer;
  private final List<TopicPartition> partitions;
  private final Consumer<String, String> consumer;
  private final Producer<String, String> producer;
  private boolean isFailing;

  /**
   * Makes the topic where it is missing, and opens it.
   *
   * @param writer names this worker's plugin among all writers
   * @throws KafkaException the cluster does not answer, or does not allow it
   */
  KafkaLog(final StateSettings settings, final String writer) {
    this.topic = settings.topic();
    this.writer = writer.getBytes(StandardCharsets.UTF_8);
    StateTopic.ensure(settings, writer);
    this.consumer =
        new KafkaConsumer<>(
            consumerOptions(settings, writer), new StringDeserializer(), new StringDeserializer());
    this.partitions = partitions();
    consumer.assign(partitions);
    consumer.seekToBeginning(partitions);
    this.producer =
        new KafkaProducer<>(
            producerOptions(settings, writer), new StringSerializer(), new StringSerializer());
  }

  private List<TopicPartition> partitions() {
    try {
      final Deadline deadline = new Deadline(CATCH_UP);
      List<PartitionInfo> found = consumer.partitionsFor(topic, Duration.ofMillis(BLOCK_MS));
      // The broker that is asked may not know yet of a topic that another has just made.
      while (found == null || found.isEmpty()) {
        deadline.pause("topic " + topic + " has no partitions");
        found = consumer.partitionsFor(topic, Duration.ofMillis(BLOCK_MS));
      }
      return found.stream().map(info -> new TopicPartition(topic, info.partition())).toList();
    } catch (final KafkaException e) {
      consumer.close();
      throw e;
    }
  }

  private static Map<String, Object> consumerOptions(
      final StateSettings settings, final String writer) {
    final Map<String, Object> options = new HashMap<>(settings.clients());
    options.put("client.id", "connect-lineage-state-consumer-" + writer);
    options.put("enable.auto.commit", false);
    options.put("auto.offset.reset", "earliest");
    options.put("allow.auto.create.topics", false);
    return options;
  }

  private static Map<String, Object> producerOptions(
      final StateSettings settings, final String writer) {
    final Map<String, Object> options = new HashMap<>(settings.clients());
    options.put("client.id", "connect-lineage-state-producer-" + writer);
    options.put("acks", "all");
    options.put("compression.type", "gzip");
    options.put("max.block.ms", BLOCK_MS);
    options.put("request.timeout.ms", BLOCK_MS);
    options.put("delivery.timeout.ms", 2 * BLOCK_MS);
    options.put("linger.ms", 0);
    return options;
  }

  @Override
  public void append(final String key, final String value) {
    final ProducerRecord<String, String> message = new ProducerRecord<>(topic, key, value);
    message.headers().add(WRITER, writer);
    try {
      producer.send(
          message,
          (metadata, failure) -> {
            if (failure != null) {
              LOG.warn(
                  "Lineage state {} could not be written to topic {}: {}",
                  key,
                  topic,
                  failure.toString());
            }
          });
      producer.flush();
    } catch (final KafkaException e) {
      failed("written", e);
    }
  }

  @Override
  public void poll(final BiConsumer<String, String> taker) {
    read(taker, Duration.ZERO);
  }

  @Override
  public void catchUp(final BiConsumer<String, String> taker) {
    final long until = System.nanoTime() + CATCH_UP.toNanos();
    try {
      final Map<TopicPartition, Long> ends =
          consumer.endOffsets(partitions, Duration.ofMillis(BLOCK_MS));
      while (!isAt(ends) && System.nanoTime() < until && read(taker, Duration.ofMillis(100))) {
        // Goes on until all is read that was there.
      }
    } catch (final KafkaException e) {
      failed("read", e);
    }
  }

  private boolean isAt(final Map<TopicPartition, Long> ends) {
    return ends.entrySet().stream()
        .allMatch(
            end -> consumer.position(end.getKey(), Duration.ofMillis(BLOCK_MS)) >= end.getValue());
  }

  private boolean read(final BiConsumer<String, String> taker, final Duration wait) {
    try {
      for (final ConsumerRecord<String, String> message : consumer.poll(wait)) {
        final var header = message.headers().lastHeader(WRITER);
        final boolean isOwn = header != null && Arrays.equals(header.value(), writer);
        if (!isOwn && message.key() != null) {
          taker.accept(message.key(), message.value());
        }
      }
      isFailing = false;
      return true;
    } catch (final KafkaException e) {
      failed("read", e);
      return false;
    }
  }

  private void failed(final String what, final KafkaException failure) {
    if (!isFailing) {
      isFailing = true;
      LOG.warn(
          "Lineage state cannot be {} in topic {}; runs go on from memory until it can: {}",
          what,
          topic,
          failure.toString());
    }
  }

  @Override
  public boolean isDurable() {
    return true;
  }

  @Override
  @SuppressWarnings("deprecation") // What replaces it is missing in workers before Kafka 4.1.
  public void close() {
    producer.close(CLOSE);
    consumer.close(CLOSE);
  }
}
