// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericData;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;
import org.apache.flink.connector.kafka.lineage.DefaultKafkaDatasetFacet;
import org.apache.flink.connector.kafka.lineage.DefaultKafkaDatasetIdentifier;
import org.apache.flink.connector.kafka.lineage.KafkaDatasetFacet;
import org.apache.flink.connector.kafka.lineage.KafkaDatasetFacetProvider;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.flink.formats.avro.registry.confluent.ConfluentRegistryAvroSerializationSchema;
import org.apache.flink.kafka.shaded.org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Serializer of windows into Kafka records: Avro values, keyed by supplier and window start.
 *
 * <p>The lineage facet contains the topic but no type information: a listener would report the
 * fields of the Java class as columns of the topic.
 */
final class WindowRecords
    implements KafkaRecordSerializationSchema<SupplierWindow>, KafkaDatasetFacetProvider {
  private static final long serialVersionUID = 1L;

  private final String topic;
  private final SerializationSchema<GenericRecord> avro;

  WindowRecords(final String topic, final String registry) {
    this.topic = topic;
    this.avro =
        ConfluentRegistryAvroSerializationSchema.forGeneric(
            topic + "-value", Schemas.SUPPLIER_WINDOW, registry);
  }

  @Override
  public void open(
      final SerializationSchema.InitializationContext context, final KafkaSinkContext sink)
      throws Exception {
    avro.open(context);
  }

  @Override
  public Optional<KafkaDatasetFacet> getKafkaDatasetFacet() {
    return Optional.of(
        new DefaultKafkaDatasetFacet(DefaultKafkaDatasetIdentifier.ofTopics(List.of(topic))));
  }

  @Override
  public ProducerRecord<byte[], byte[]> serialize(
      final SupplierWindow window, final KafkaSinkContext sink, final Long timestamp) {
    return new ProducerRecord<>(topic, null, timestamp, key(window), avro.serialize(value(window)));
  }

  /**
   * Returns the key, such as {@code alder 2026-01-01T00:00:05Z}. An updated result of a window has
   * the same key and replaces the earlier one under compaction.
   */
  static byte[] key(final SupplierWindow window) {
    return (window.supplier() + " " + Instant.ofEpochMilli(window.start()))
        .getBytes(StandardCharsets.UTF_8);
  }

  static GenericRecord value(final SupplierWindow window) {
    final GenericRecord value = new GenericData.Record(Schemas.SUPPLIER_WINDOW);
    value.put("supplier", window.supplier());
    value.put("window_start", window.start());
    value.put("window_end", window.end());
    value.put("count", window.count());
    value.put("total_price", ByteBuffer.wrap(BigInteger.valueOf(window.cents()).toByteArray()));
    return value;
  }
}
