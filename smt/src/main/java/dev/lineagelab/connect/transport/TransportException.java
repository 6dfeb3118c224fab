// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

/** Events could not be sent; the attempt may be retried. */
public final class TransportException extends Exception {
  private static final long serialVersionUID = 1L;

  public TransportException(final String message, final Throwable cause) {
    super(message, cause);
  }

  public TransportException(final String message) {
    super(message);
  }
}
