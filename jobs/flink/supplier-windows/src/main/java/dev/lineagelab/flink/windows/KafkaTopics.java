// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;

/** Kafka source and sink of the job. */
final class KafkaTopics {
  private static final String PROTOCOL = "security.protocol";
  private static final String MECHANISM = "sasl.mechanism";

  /** Used with {@code SASL_SSL} only. */
  private static final String PLAIN = "PLAIN";

  private KafkaTopics() {}

  /**
   * Source of orders. A job without state starts at the earliest offset: offsets committed by
   * another run could fall inside a window, which would then lack some of its orders.
   */
  static KafkaSource<GenericRecord> orders(final Settings settings) {
    final KafkaSourceBuilder<GenericRecord> source =
        KafkaSource.<GenericRecord>builder()
            .setBootstrapServers(settings.bootstrap())
            .setProperty(PROTOCOL, settings.securityProtocol())
            .setProperty(MECHANISM, PLAIN)
            .setTopics(settings.orders())
            .setGroupId(settings.group())
            .setProperty("isolation.level", "read_committed")
            .setStartingOffsets(OffsetsInitializer.earliest())
            .setValueOnlyDeserializer(new AvroOrders(settings.registry()));
    return (settings.bounded() ? source.setBounded(OffsetsInitializer.latest()) : source).build();
  }

  /** Transactional sink of the totals: exactly-once for {@code read_committed} consumers. */
  static KafkaSink<SupplierWindow> windows(final Settings settings) {
    return KafkaSink.<SupplierWindow>builder()
        .setBootstrapServers(settings.bootstrap())
        .setProperty(PROTOCOL, settings.securityProtocol())
        .setProperty(MECHANISM, PLAIN)
        .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .setTransactionalIdPrefix(settings.transactions())
        .setProperty(
            "transaction.timeout.ms", Long.toString(settings.transactionTimeout().toMillis()))
        .setProperty("compression.type", "lz4")
        .setRecordSerializer(new WindowRecords(settings.windows(), settings.registry()))
        .build();
  }
}
