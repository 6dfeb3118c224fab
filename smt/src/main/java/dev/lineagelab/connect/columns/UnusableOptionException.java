// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

/**
 * An option is missing or invalid, or its value is a reference that only the worker can resolve.
 */
public final class UnusableOptionException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * @param message the cause, without the value of an option that may be a secret
   */
  public UnusableOptionException(final String message) {
    super(message);
  }
}
