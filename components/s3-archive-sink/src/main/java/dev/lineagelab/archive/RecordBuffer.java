// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.io.ByteArrayOutputStream;

/** Encoded records of one object. */
final class RecordBuffer extends ByteArrayOutputStream {
  private int records;

  void add(final byte[] record) {
    writeBytes(record);
    records++;
  }

  int records() {
    return records;
  }

  /** Return the memory in use, in bytes. */
  long capacity() {
    return buf.length;
  }
}
