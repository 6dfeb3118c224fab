// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

/** Permanent failure to decode a value as an order; a retry cannot succeed. */
final class MalformedOrderException extends Exception {
  private static final long serialVersionUID = 1L;

  MalformedOrderException(final String message) {
    super(message);
  }
}
