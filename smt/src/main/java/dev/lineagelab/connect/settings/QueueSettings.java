// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import java.time.Duration;
import org.apache.kafka.common.config.AbstractConfig;

/**
 * Settings of the event queue and of retries.
 *
 * @param capacity maximum number of waiting events
 * @param batchSize maximum number of events per request
 * @param backoff delay before the first retry
 * @param maxBackoff maximum delay before a retry
 * @param retryTimeout time after which an event is dropped
 * @param shutdownTimeout time to send waiting events when the worker stops
 */
public record QueueSettings(
    int capacity,
    int batchSize,
    Duration backoff,
    Duration maxBackoff,
    Duration retryTimeout,
    Duration shutdownTimeout) {

  static QueueSettings of(final AbstractConfig config) {
    return new QueueSettings(
        config.getInt(OptionNames.QUEUE_CAPACITY),
        config.getInt(OptionNames.BATCH_SIZE),
        Duration.ofMillis(config.getLong(OptionNames.RETRY_BACKOFF_MS)),
        Duration.ofMillis(config.getLong(OptionNames.RETRY_BACKOFF_MAX_MS)),
        Duration.ofMillis(config.getLong(OptionNames.RETRY_TIMEOUT_MS)),
        Duration.ofMillis(config.getLong(OptionNames.SHUTDOWN_TIMEOUT_MS)));
  }
}
