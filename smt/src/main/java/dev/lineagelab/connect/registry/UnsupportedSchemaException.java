// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

/** A schema of the registry that cannot be compared. The message says why. */
final class UnsupportedSchemaException extends Exception {
  private static final long serialVersionUID = 1L;

  UnsupportedSchemaException(final String message) {
    super(message);
  }
}
