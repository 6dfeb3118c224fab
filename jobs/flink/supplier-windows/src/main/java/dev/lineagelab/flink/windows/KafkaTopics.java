// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;

/** The job's two ends where it runs for good. */
final class KafkaTopics {
  private KafkaTopics() {}

  /**
   * The orders. A job without state begins with the first: offsets that another run has committed
   * would leave the windows at that place with half of their orders.
   */
  static KafkaSource<GenericRecord> orders(final Settings settings) {
    final KafkaSourceBuilder<GenericRecord> source =
        KafkaSource.<GenericRecord>builder()
            .setBootstrapServers(settings.bootstrap())
            .setTopics(settings.orders())
            .setGroupId(settings.group())
            .setProperty("isolation.level", "read_committed")
            .setStartingOffsets(OffsetsInitializer.earliest())
            .setValueOnlyDeserializer(new AvroOrders(settings.registry()));
    return (settings.bounded() ? source.setBounded(OffsetsInitializer.latest()) : source).build();
  }

  /** The totals, each exactly once for readers of what is committed. */
  static KafkaSink<SupplierWindow> windows(final Settings settings) {
    return KafkaSink.<SupplierWindow>builder()
        .setBootstrapServers(settings.bootstrap())
        .setDeliveryGuarantee(DeliveryGuarantee.EXACTLY_ONCE)
        .setTransactionalIdPrefix(settings.transactions())
        .setProperty(
            "transaction.timeout.ms", Long.toString(settings.transactionTimeout().toMillis()))
        .setProperty("compression.type", "lz4")
        .setRecordSerializer(new WindowRecords(settings.windows(), settings.registry()))
        .build();
  }
}
