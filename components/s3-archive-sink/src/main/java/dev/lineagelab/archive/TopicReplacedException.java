// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.errors.ConnectException;

/** Kafka delivers an offset that the archive has already, and not because it is asked to. */
final class TopicReplacedException extends ConnectException {
  private static final long serialVersionUID = 1L;

  TopicReplacedException(
      final TopicPartition partition, final long offset, final long next, final String logPrefix) {
    super(
        "Archiving "
            + partition
            + ": Kafka delivers offset "
            + offset
            + ", but the archive in "
            + logPrefix
            + " has all before "
            + next
            + ". The topic was deleted and made anew. Set "
            + Options.TOPICS_DIR
            + " to another folder, or remove the topic's folder from the bucket.");
  }
}
