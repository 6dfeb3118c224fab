// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.settings;

import java.time.Duration;
import org.apache.kafka.common.config.AbstractConfig;

/**
 * How events wait and how often they are tried.
 *
 * @param capacity events that may wait
 * @param batchSize events that are sent at once
 * @param backoff before the first repetition
 * @param maxBackoff before any
 * @param retryTimeout after which an event is given up
 * @param shutdownTimeout for what waits when the worker stops
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
