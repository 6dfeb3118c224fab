// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.util.stream.LongStream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever happens to tasks and store, each record is in exactly one object, and no offset may be
 * committed before its object is there. {@code -Darchive.seeds=100} tries more histories.
 */
@ExtendWith(MinioServer.Extension.class)
class ExactlyOnceTest {
  private final MinioServer minio;

  ExactlyOnceTest(final MinioServer minio) {
    this.minio = minio;
  }

  static LongStream seeds() {
    return LongStream.range(0, Long.getLong("archive.seeds", 6));
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void eachRecordIsInExactlyOneObject(final long seed) {
    new RandomHistory(minio, seed).run();
  }
}
