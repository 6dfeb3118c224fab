// SPDX-License-Identifier: Apache-2.0

import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Producers that commit transactions with a record in each partition until they are killed or the broker is away.
 *
 * <p>Arguments: bootstrap servers, topic, number of its partitions. The Java client shows the fault; librdkafka, which
 * uses an older version of the transaction protocol, does not.
 */
public final class TransactionLoad {
    private static final int PRODUCERS = 4;

    /** Time after which the broker aborts the transaction of a killed producer. */
    private static final String TRANSACTION_TIMEOUT_MS = "5000";

    public static void main(String[] arguments) {
        for (int number = 0; number < PRODUCERS; number++) {
            String id = arguments[1] + "-" + number;
            new Thread(() -> commit(arguments[0], arguments[1], Integer.parseInt(arguments[2]), id)).start();
        }
    }

    private static void commit(String bootstrap, String topic, int partitions, String id) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("transactional.id", id);
        settings.put("transaction.timeout.ms", TRANSACTION_TIMEOUT_MS);
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.initTransactions();
            while (true) {
                producer.beginTransaction();
                for (int partition = 0; partition < partitions; partition++) {
                    producer.send(new ProducerRecord<>(topic, partition, null, new byte[100]));
                }
                producer.commitTransaction();
            }
        }
    }
}
