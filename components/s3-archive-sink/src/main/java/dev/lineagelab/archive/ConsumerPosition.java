// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

/**
 * Validity of the consumer position that Connect reports for a partition. After a seek, the
 * position still covers records fetched before it, until a batch with records from the new position
 * has been processed completely.
 */
final class ConsumerPosition {
  private boolean isValid;
  private boolean hasProcessed;

  /** The partition was assigned: Connect applies the seek before it fetches anything. */
  void onAssigned() {
    isValid = true;
  }

  /** A seek was requested; Connect applies it before the next fetch. */
  void onSeek() {
    isValid = false;
    hasProcessed = false;
  }

  /** A record from the expected position was processed. */
  void onRecord() {
    hasProcessed = true;
  }

  /** A batch was processed completely. */
  void onBatchEnd() {
    isValid |= hasProcessed;
    hasProcessed = false;
  }

  boolean isValid() {
    return isValid;
  }
}
