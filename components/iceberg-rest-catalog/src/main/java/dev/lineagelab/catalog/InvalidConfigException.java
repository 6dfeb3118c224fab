// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.catalog;

/** Missing, unknown or malformed settings; the message names them and the expected values. */
final class InvalidConfigException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  InvalidConfigException(final String message) {
    super(message);
  }
}
