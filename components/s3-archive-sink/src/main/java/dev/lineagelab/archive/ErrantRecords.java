// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.sink.ErrantRecordReporter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What becomes of records that cannot be archived: what the connector's {@code errors.} options
 * say.
 *
 * @param reporter Connect's; null where neither a dead letter queue nor the log is to be told
 * @param areTolerated whether {@code errors.tolerance} is {@code all}
 */
record ErrantRecords(ErrantRecordReporter reporter, boolean areTolerated) {
  private static final Logger LOG = LoggerFactory.getLogger(ErrantRecords.class);

  /**
   * Gives a record up.
   *
   * @throws ConnectException errors are not tolerated
   */
  void report(final SinkRecord record, final DataException cause) {
    final DataException error =
        new DataException(
            "Archiving "
                + record.originalTopic()
                + "-"
                + record.originalKafkaPartition()
                + " offset "
                + record.originalKafkaOffset()
                + ": "
                + cause.getMessage(),
            cause);
    if (reporter != null) {
      // Throws if errors are not tolerated. Connect waits for the queue before it commits offsets.
      reporter.report(record, error);
    } else if (areTolerated) {
      LOG.warn("{}: left out, as errors.tolerance=all says", error.getMessage());
    } else {
      throw new ConnectException(
          error.getMessage()
              + ". To go on without such records set errors.tolerance=all, and to keep them "
              + "errors.deadletterqueue.topic.name.",
          error);
    }
  }
}
