// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import com.fasterxml.jackson.annotation.JsonFormat;

/** Offsets from {@code first} to {@code last}, both inclusive; {@code [first, last]} in JSON. */
@JsonFormat(shape = JsonFormat.Shape.ARRAY)
record OffsetRange(long first, long last) {

  boolean contains(final long offset) {
    return first <= offset && offset <= last;
  }
}
