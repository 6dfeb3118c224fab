// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** Encoded records, one behind the other in memory. */
final class EncodedRecords {
  private static final int FIRST_BYTES = 1024;
  private static final int FIRST_RECORDS = 16;

  private byte[] bytes = new byte[FIRST_BYTES];
  private int[] ends = new int[FIRST_RECORDS];
  private int count;

  void add(final byte[] record) {
    final int start = size();
    final int end = Math.addExact(start, record.length);
    if (end > bytes.length) {
      final int grown = (int) Math.min(Integer.MAX_VALUE - 8L, bytes.length * 2L);
      bytes = Arrays.copyOf(bytes, Math.max(end, grown));
    }
    if (count == ends.length) {
      ends = Arrays.copyOf(ends, count * 2);
    }
    System.arraycopy(record, 0, bytes, start, record.length);
    ends[count] = end;
    count++;
  }

  int count() {
    return count;
  }

  /** Bytes of all records. */
  int size() {
    return count == 0 ? 0 : ends[count - 1];
  }

  /** Bytes of memory that are in use. */
  long footprint() {
    return bytes.length + 4L * ends.length;
  }

  ByteBuffer record(final int index) {
    final int start = index == 0 ? 0 : ends[index - 1];
    return ByteBuffer.wrap(bytes, start, ends[index] - start);
  }

  /** All records. */
  byte[] toByteArray() {
    return Arrays.copyOf(bytes, size());
  }
}
