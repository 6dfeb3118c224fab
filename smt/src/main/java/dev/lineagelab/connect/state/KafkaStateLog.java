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

/** State log in a compacted topic. Records that this worker has written itself are skipped. */
final class KafkaStateLog implements StateLog {
  private static final Logger LOG = LoggerFactory.getLogger(KafkaStateLog.class);
  private static final String WRITER = "writer";
  private static final int REQUEST_TIMEOUT_MS = 3000;
  private static final int LINGER_MS = 20;

  /** Time without a record after which reading to the end fails. */
  private static final Duration CATCH_UP_TIMEOUT = Duration.ofSeconds(10);

  private static final Duration CLOSE_TIMEOUT = Duration.ofMillis(300);

  private final String topic;
  private final byte[] writer;
  private final List<TopicPartition> partitions;
  private final Consumer<String, String> consumer;
  private final Producer<String, String> producer;
  private boolean isFailing;

  /**
   * Open the topic; create it if it does not exist.
   *
   * @param writer unique id of this plugin instance
   * @throws KafkaException Kafka did not respond, or denied access
   */
  KafkaStateLog(final StateSettings settings, final String writer) {
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
      final Deadline deadline = new Deadline(CATCH_UP_TIMEOUT);
      List<PartitionInfo> found =
          consumer.partitionsFor(topic, Duration.ofMillis(REQUEST_TIMEOUT_MS));
      // This broker may not have the metadata yet of a topic that another one has just created.
      while (found == null || found.isEmpty()) {
        deadline.pause("topic " + topic + " has no partitions");
        found = consumer.partitionsFor(topic, Duration.ofMillis(REQUEST_TIMEOUT_MS));
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
    options.put("max.block.ms", REQUEST_TIMEOUT_MS);
    options.put("request.timeout.ms", REQUEST_TIMEOUT_MS);
    options.put("delivery.timeout.ms", 2 * REQUEST_TIMEOUT_MS);
    // Records of one poll are compressed and sent together.
    options.put("linger.ms", LINGER_MS);
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
                  "Cannot write lineage state {} to topic {}: {}", key, topic, failure.toString());
            }
          });
    } catch (final KafkaException e) {
      failed("write", e);
    }
  }

  @Override
  public void flush() {
    try {
      producer.flush();
    } catch (final KafkaException e) {
      failed("write", e);
    }
  }

  @Override
  public void poll(final BiConsumer<String, String> handler) {
    read(handler, Duration.ZERO);
  }

  @Override
  public boolean catchUp(final BiConsumer<String, String> handler) {
    try {
      final Map<TopicPartition, Long> ends =
          consumer.endOffsets(partitions, Duration.ofMillis(REQUEST_TIMEOUT_MS));
      long left = distance(ends);
      long progressAt = System.nanoTime();
      while (left > 0 && System.nanoTime() - progressAt < CATCH_UP_TIMEOUT.toNanos()) {
        if (!read(handler, Duration.ofMillis(100))) {
          return false;
        }
        final long now = distance(ends);
        progressAt = now < left ? System.nanoTime() : progressAt;
        left = now;
      }
      return left == 0;
    } catch (final KafkaException e) {
      failed("read", e);
      return false;
    }
  }

  /** Offsets between the position of the consumer and the ends; 0 if all are reached. */
  private long distance(final Map<TopicPartition, Long> ends) {
    return ends.entrySet().stream()
        .mapToLong(
            end ->
                Math.max(
                    0,
                    end.getValue()
                        - consumer.position(end.getKey(), Duration.ofMillis(REQUEST_TIMEOUT_MS))))
        .sum();
  }

  private boolean read(final BiConsumer<String, String> handler, final Duration wait) {
    try {
      for (final ConsumerRecord<String, String> message : consumer.poll(wait)) {
        final var header = message.headers().lastHeader(WRITER);
        final boolean isOwn = header != null && Arrays.equals(header.value(), writer);
        if (!isOwn && message.key() != null) {
          handler.accept(message.key(), message.value());
        }
      }
      isFailing = false;
      return true;
    } catch (final KafkaException e) {
      failed("read", e);
      return false;
    }
  }

  private void failed(final String operation, final KafkaException failure) {
    if (!isFailing) {
      isFailing = true;
      LOG.warn(
          "Cannot {} lineage state in topic {}; runs continue from memory until it is available:"
              + " {}",
          operation,
          topic,
          failure.toString());
    }
  }

  @Override
  public boolean isDurable() {
    return true;
  }

  @Override
  @SuppressWarnings("deprecation") // Its replacement does not exist in workers before Kafka 4.1.
  public void close() {
    producer.close(CLOSE_TIMEOUT);
    consumer.close(CLOSE_TIMEOUT);
  }
}
