// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

import java.nio.ByteBuffer;
import java.util.UUID;

/** Run ids that every worker derives alike, without coordination. */
public final class RunIds {
  private static final long VERSION_7 = 0x7000L;
  private static final long RFC_VARIANT = 0x8000_0000_0000_0000L;

  private RunIds() {}

  /**
   * Run id as a UUID of version 7: ids sort by generation.
   *
   * @param cluster id of the Connect cluster
   * @param generation in milliseconds since the epoch
   */
  public static UUID of(final String cluster, final String connector, final long generation) {
    final ByteBuffer hash =
        ByteBuffer.wrap(Fingerprint.sha256(cluster + '\0' + connector + '\0' + generation));
    final long high = generation << 16 | VERSION_7 | hash.getLong() >>> 52;
    final long low = RFC_VARIANT | hash.getLong() >>> 2;
    return new UUID(high, low);
  }
}
