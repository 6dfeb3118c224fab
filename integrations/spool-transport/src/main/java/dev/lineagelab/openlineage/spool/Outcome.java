// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.openlineage.spool;

import io.openlineage.client.transports.HttpTransportResponseException;
import java.io.IOException;
import java.util.Set;

/** Result of an attempt to deliver an event. */
enum Outcome {
  DELIVERED,
  /** It will never be accepted. */
  REJECTED,
  /** The receiver has answered with an error; a later attempt may succeed. */
  REFUSED,
  /** The receiver has not answered; it would not accept other events either. */
  UNAVAILABLE;

  /** Client errors that a later attempt may not have. */
  private static final Set<Integer> RETRIABLE = Set.of(408, 425, 429);

  /** Returns the outcome of an attempt that has thrown. */
  static Outcome of(RuntimeException error) {
    if (error instanceof HttpTransportResponseException response) {
      int status = response.getStatusCode();
      return status >= 400 && status < 500 && !RETRIABLE.contains(status) ? REJECTED : REFUSED;
    }
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (cause instanceof IOException) {
        return UNAVAILABLE;
      }
    }
    return REFUSED;
  }
}
