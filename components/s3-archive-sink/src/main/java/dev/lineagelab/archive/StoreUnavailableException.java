// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import org.apache.kafka.connect.errors.RetriableException;

/** A request to the store failed and may succeed later. */
final class StoreUnavailableException extends RetriableException {
  private static final long serialVersionUID = 1L;

  StoreUnavailableException(final String message, final Throwable cause) {
    super(message, cause);
  }
}
