// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.catalog;

/** A setting is missing, unknown or malformed. The message names it and says what is expected. */
final class InvalidConfigException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  InvalidConfigException(final String message) {
    super(message);
  }
}
