// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

/** What becomes of a record without value (in a compacted topic: the key was deleted). */
enum NullValues {
  /** It is left out of the archive. */
  IGNORE,
  /** It is an error of that record. */
  FAIL,
  /** It is archived with its key and a null. */
  WRITE
}
