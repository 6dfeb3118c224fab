// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

/** A value that is no order, whenever it is read. */
final class UnreadableException extends Exception {
  private static final long serialVersionUID = 1L;

  UnreadableException(final String message) {
    super(message);
  }
}
