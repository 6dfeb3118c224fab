// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import org.apache.kafka.connect.errors.RetriableException;

/** The store did not do what it was asked for, and may do it later. */
final class StoreUnavailableException extends RetriableException {
  private static final long serialVersionUID = 1L;

  StoreUnavailableException(final String message, final Throwable cause) {
    super(message, cause);
  }
}
