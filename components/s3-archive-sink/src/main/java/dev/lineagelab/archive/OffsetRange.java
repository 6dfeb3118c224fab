// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

/** Offsets from {@code first} to {@code last}, both included. */
record OffsetRange(long first, long last) {

  boolean contains(final long offset) {
    return first <= offset && offset <= last;
  }
}
