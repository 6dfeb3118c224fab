// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.util.stream.LongStream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Exactly-once delivery under random crashes, zombies and store failures: each record is in exactly
 * one object, and no offset may be committed before its object exists. {@code -Darchive.seeds=100}
 * runs more seeds.
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
  void everyRecordIsInExactlyOneObject(final long seed) {
    new RandomizedRun(minio, seed).run();
  }
}
