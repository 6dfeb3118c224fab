// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.sink.ErrantRecordReporter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handling of records that cannot be archived, according to the connector's {@code errors.}
 * options.
 *
 * @param reporter of Connect; null if neither a dead letter queue nor error logging is configured
 * @param toleratesErrors true if {@code errors.tolerance} is {@code all}
 */
record ErrantRecordHandler(ErrantRecordReporter reporter, boolean toleratesErrors) {
  private static final Logger LOG = LoggerFactory.getLogger(ErrantRecordHandler.class);

  /**
   * Report a record and skip it.
   *
   * @throws ConnectException if errors are not tolerated
   */
  void report(final SinkRecord record, final DataException cause) {
    final DataException error =
        new DataException(
            "Archiving %s-%d offset %d: %s"
                .formatted(
                    record.originalTopic(),
                    record.originalKafkaPartition(),
                    record.originalKafkaOffset(),
                    cause.getMessage()),
            cause);
    if (reporter != null) {
      // Throws if errors are not tolerated. Connect waits for the queue before it commits offsets.
      reporter.report(record, error);
    } else if (toleratesErrors) {
      LOG.warn("{}. Skipped, because errors.tolerance=all", error.getMessage());
    } else {
      throw new ConnectException(
          error.getMessage()
              + ". To skip such records set errors.tolerance=all; to keep them set "
              + "errors.deadletterqueue.topic.name too.",
          error);
    }
  }
}
