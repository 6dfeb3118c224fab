// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

/** An option is missing or wrong, or its value is a reference that only the worker resolves. */
public final class UnusableOptionException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Says what is wrong.
   *
   * @param message without the option's value where that may be a secret
   */
  public UnusableOptionException(final String message) {
    super(message);
  }
}
