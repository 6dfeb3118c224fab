// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.emit;

/** Events could not be sent now; later they may be. */
public final class TransportException extends Exception {
  private static final long serialVersionUID = 1L;

  public TransportException(final String message, final Throwable cause) {
    super(message, cause);
  }

  public TransportException(final String message) {
    super(message);
  }
}
