// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

/** A registry request failed. The message contains the request and the cause. */
final class RegistryException extends Exception {
  private static final long serialVersionUID = 1L;

  private final boolean isPermanent;

  private RegistryException(
      final String message, final Throwable cause, final boolean isPermanent) {
    super(message, cause);
    this.isPermanent = isPermanent;
  }

  /** Return a failure that a later attempt may not have. */
  static RegistryException retriable(final String message, final Throwable cause) {
    return new RegistryException(message, cause, false);
  }

  /** Return a failure that every attempt would have. */
  static RegistryException permanent(final String message) {
    return new RegistryException(message, null, true);
  }

  /** Return true if retries are useless. */
  boolean isPermanent() {
    return isPermanent;
  }
}
