// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

/** The registry gave no answer that could be used. The message says what was asked, and why. */
final class RegistryException extends Exception {
  private static final long serialVersionUID = 1L;

  private final boolean isFinal;

  private RegistryException(final String message, final Throwable cause, final boolean isFinal) {
    super(message, cause);
    this.isFinal = isFinal;
  }

  /** It may answer better some minutes later. */
  static RegistryException passing(final String message, final Throwable cause) {
    return new RegistryException(message, cause, false);
  }

  /** It would say the same again. */
  static RegistryException lasting(final String message) {
    return new RegistryException(message, null, true);
  }

  /** Whether to ask again is of no use. */
  boolean isFinal() {
    return isFinal;
  }
}
