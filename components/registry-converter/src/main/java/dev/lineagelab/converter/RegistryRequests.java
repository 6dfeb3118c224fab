// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.converter;

import java.util.function.Supplier;
import org.apache.kafka.connect.errors.RetriableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Requests to a registry, which fail with {@link RetriableException} while it is unavailable. */
final class RegistryRequests {
  private static final Logger LOG = LoggerFactory.getLogger(RegistryRequests.class);

  private final String url;
  private final String option;
  private boolean isUnavailable;

  /**
   * Create requests to a registry.
   *
   * @param url address of the registry
   * @param option of the converter that the address is from
   */
  RegistryRequests(final String url, final String option) {
    this.url = url;
    this.option = option;
  }

  /**
   * Return the result of a lookup.
   *
   * @param what what is requested, for the message
   * @throws RetriableException the registry is unavailable
   */
  <R> R request(final String what, final Supplier<R> lookup) {
    try {
      final R result = lookup.get();
      isUnavailable = false;
      return result;
    } catch (RuntimeException e) {
      throw RegistryErrors.unavailability(e).map(reason -> retriable(what, reason, e)).orElse(e);
    }
  }

  private RuntimeException retriable(
      final String what, final String reason, final RuntimeException cause) {
    final String message =
        "Requesting %s from the schema registry at %s: %s. Check that it is running, and %s."
            .formatted(what, url, reason, option);
    if (!isUnavailable) {
      // Logged once: Connect logs nothing while it retries and reports the task as RUNNING.
      LOG.warn(message);
      isUnavailable = true;
    }
    return new RetriableException(message, cause);
  }
}
