// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

/**
 * Whether the position that Connect tells is where a partition is read. After a seek it is not:
 * Connect may still count records that it fetched before, until a batch with records from the new
 * place was taken whole.
 */
final class ReadPosition {
  private boolean isKnown;
  private boolean hasHandled;

  /** The partition was assigned: Connect moves the consumer before it fetches anything. */
  void assigned() {
    isKnown = true;
  }

  /** The consumer was told to go elsewhere. */
  void sought() {
    isKnown = false;
    hasHandled = false;
  }

  /** A record from the right place was handled. */
  void handled() {
    hasHandled = true;
  }

  /** A batch was taken whole. */
  void taken() {
    isKnown |= hasHandled;
    hasHandled = false;
  }

  boolean isKnown() {
    return isKnown;
  }
}
