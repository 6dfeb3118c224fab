// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

import dev.lineagelab.connect.settings.KafkaTransportSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.serialization.StringSerializer;

/** Writes events to a topic, keyed by job, so that those of one job stay in order. */
final class KafkaTransport implements Transport {
  private static final Duration CLOSE_TIMEOUT = Duration.ofMillis(200);

  private final KafkaTransportSettings settings;
  private Producer<String, String> producer;

  KafkaTransport(final KafkaTransportSettings settings) {
    this.settings = settings;
  }

  @Override
  public SendResult send(final List<OutgoingEvent> events)
      throws TransportException, InterruptedException {
    final List<Future<RecordMetadata>> futures = new ArrayList<>();
    try {
      for (final OutgoingEvent event : events) {
        futures.add(
            producer().send(new ProducerRecord<>(settings.topic(), event.key(), event.json())));
      }
    } catch (final KafkaException e) {
      throw new TransportException("cannot write to Kafka topic " + settings.topic() + ": " + e, e);
    }
    int accepted = 0;
    final List<String> rejected = new ArrayList<>();
    for (final Future<RecordMetadata> future : futures) {
      final String rejection = await(future);
      if (rejection == null) {
        accepted++;
      } else {
        rejected.add(rejection);
      }
    }
    return new SendResult(accepted, rejected);
  }

  private String await(final Future<RecordMetadata> future)
      throws TransportException, InterruptedException {
    try {
      future.get(settings.requestTimeout().toMillis(), TimeUnit.MILLISECONDS);
      return null;
    } catch (final ExecutionException e) {
      if (e.getCause() instanceof RecordTooLargeException) {
        return e.getCause().getMessage();
      }
      throw new TransportException(
          "cannot write to Kafka topic " + settings.topic() + ": " + e.getCause(), e);
    } catch (final TimeoutException e) {
      throw new TransportException(
          "Kafka topic "
              + settings.topic()
              + " did not acknowledge an event within "
              + settings.requestTimeout().toMillis()
              + " ms",
          e);
    }
  }

  private Producer<String, String> producer() {
    if (producer == null) {
      final Map<String, Object> options = new HashMap<>();
      final int timeout = (int) settings.requestTimeout().toMillis();
      options.put("enable.idempotence", true);
      options.put("max.block.ms", timeout);
      options.put("request.timeout.ms", timeout);
      options.put("delivery.timeout.ms", timeout);
      options.put("linger.ms", 0);
      options.put("compression.type", settings.gzip() ? "gzip" : "none");
      options.putAll(settings.clients());
      producer = new KafkaProducer<>(options, new StringSerializer(), new StringSerializer());
    }
    return producer;
  }

  @Override
  public void close() {
    if (producer != null) {
      producer.close(CLOSE_TIMEOUT);
    }
  }
}
