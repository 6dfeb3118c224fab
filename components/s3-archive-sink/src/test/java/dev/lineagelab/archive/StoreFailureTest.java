// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.connect.errors.ConnectException;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.sync.RequestBody;

/** Unavailable, misconfigured and incompatible stores. */
class StoreFailureTest extends SinkTaskTestBase {

  StoreFailureTest(final MinioServer minio) {
    super(minio);
  }

  @Test
  void failsAtOnceOnAMissingBucket() {
    options.put(ArchiveConfig.BUCKET, "no-such-bucket");

    assertThatThrownBy(() -> start(ORDERS))
        .isInstanceOf(ConnectException.class)
        .isNotInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("in bucket no-such-bucket at " + minio.uri())
        .hasMessageContaining("the bucket does not exist. Create it, or correct s3.bucket.name");
  }

  @Test
  void failsBeforePartitionsAreAssigned() {
    options.put(ArchiveConfig.BUCKET, "no-such-bucket");
    final SimulatedWorker worker = track(SimulatedWorker.of(options, topics, clock, null));

    assertThatThrownBy(worker::start).hasMessageContaining("the bucket does not exist");
  }

  @Test
  void failsAtOnceOnWrongCredentialsWithoutLoggingTheSecret() {
    options.put(ArchiveConfig.SECRET_KEY, "not-the-secret");
    assertThatThrownBy(() -> start(ORDERS))
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining(
            "access denied for access key archive-test (HTTP 403 SignatureDoesNotMatch)")
        .hasMessageContaining("Correct aws.access.key.id and aws.secret.access.key")
        .hasMessageNotContaining("not-the-secret");

    options.put(ArchiveConfig.ACCESS_KEY, "nobody");
    assertThatThrownBy(() -> start(ORDERS)).hasMessageContaining("HTTP 403 InvalidAccessKeyId");
  }

  @Test
  void retriesAnUnreachableStoreUntilTheTimeout() {
    options.put(ArchiveConfig.STORE_URL, "http://127.0.0.1:1");
    produce(ORDERS, 3);
    final SimulatedWorker worker = start(ORDERS);
    worker.poll(100);
    assertThat(worker.isPaused()).isTrue();
    assertThat(worker.timeout()).isEqualTo(5_000);
    assertThat(worker.committable()).isEmpty();

    clock.advance(Duration.ofMinutes(10));

    assertThatThrownBy(() -> worker.poll(100))
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("no response (Connection refused")
        .hasMessageContaining("Check that the store is running, and store.url")
        .hasMessageContaining("Gave up after 600000 ms (retry.timeout.ms)");
  }

  @Test
  void retriesAFullBucketWithoutLosingRecords() {
    final SimulatedWorker worker = start(ORDERS);
    minio.setQuota(bucket, 1);
    produce(ORDERS, 3);
    worker.poll(100);
    assertThat(worker.isPaused()).isTrue();
    assertThat(worker.committable()).isEqualTo(Map.of(ORDERS, 0L));

    minio.setQuota(bucket, 0);
    worker.poll(100);

    assertThat(worker.isPaused()).isFalse();
    assertThat(offsets()).containsExactly(0L, 1L, 2L);
    assertThat(worker.committable()).isEqualTo(Map.of(ORDERS, 3L));
  }

  @Test
  void failsOnAFullBucketAfterTheTimeout() {
    options.put(ArchiveConfig.RETRY_TIMEOUT_MS, "0");
    final SimulatedWorker worker = start(ORDERS);
    minio.setQuota(bucket, 1);
    produce(ORDERS, 3);

    assertThatThrownBy(() -> worker.poll(100))
        .hasMessageContaining("the store is full (HTTP 400 XMinioAdminBucketQuotaExceeded)")
        .hasMessageContaining("Free space or raise the quota");
  }

  @Test
  void rejectsAStoreWithoutConditionalWrites() {
    final ObjectStore real = S3ObjectStore.open(new ArchiveConfig(options));
    final S3ArchiveSinkTask task =
        new S3ArchiveSinkTask(config -> new OverwritingStore(real), clock);
    final SimulatedWorker worker = track(new SimulatedWorker(task, options, topics, null));

    assertThatThrownBy(worker::start)
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("ignores If-None-Match");
  }

  @Test
  void rejectsALogEntryOfANewerVersion() {
    minio
        .client()
        .putObject(
            r ->
                r.bucket(bucket)
                    .key(new ObjectKeys("topics").logEntry(LogEntry.of(ORDERS, 0, 0, List.of()))),
            RequestBody.fromString("{\"version\": 2}"));

    assertThatThrownBy(() -> start(ORDERS))
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("expected version 1, found '2'");
  }

  /** Store that ignores If-None-Match: every conditional write succeeds. */
  private record OverwritingStore(ObjectStore store) implements ObjectStore {
    @Override
    public boolean putIfAbsent(final String key, final byte[] content, final String contentType) {
      store.putIfAbsent(key, content, contentType);
      return true;
    }

    @Override
    public Optional<byte[]> get(final String key) {
      return store.get(key);
    }

    @Override
    public boolean exists(final String key) {
      return store.exists(key);
    }

    @Override
    public Optional<String> first(final String prefix) {
      return store.first(prefix);
    }

    @Override
    public void close() {
      store.close();
    }
  }
}
