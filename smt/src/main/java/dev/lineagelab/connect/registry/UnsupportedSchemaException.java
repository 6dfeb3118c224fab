// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

/** A registered schema cannot be compared. The message contains the cause. */
final class UnsupportedSchemaException extends Exception {
  private static final long serialVersionUID = 1L;

  UnsupportedSchemaException(final String message) {
    super(message);
  }
}
