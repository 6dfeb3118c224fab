// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.errors.ConnectException;
import org.junit.jupiter.api.Test;

/** A store that cannot do, or does not do, what it is asked for. */
class StoreFailureTest extends TaskTestCase {

  StoreFailureTest(final MinioServer minio) {
    super(minio);
  }

  @Test
  void aMissingBucketIsNamedAtOnce() {
    options.put(Options.BUCKET, "no-such-bucket");

    assertThatThrownBy(() -> start(ORDERS))
        .isInstanceOf(ConnectException.class)
        .isNotInstanceOf(StoreUnavailableException.class)
        .hasMessageContaining("in bucket no-such-bucket at " + minio.uri())
        .hasMessageContaining("there is no such bucket. Create it, or correct s3.bucket.name");
  }

  @Test
  void wrongCredentialsAreNamedAtOnceWithoutTheSecret() {
    options.put(Options.SECRET_KEY, "not-the-secret");
    assertThatThrownBy(() -> start(ORDERS))
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining(
            "access key archive-test may not do that (HTTP 403 SignatureDoesNotMatch)")
        .hasMessageContaining("Correct aws.access.key.id and aws.secret.access.key")
        .hasMessageNotContaining("not-the-secret");

    options.put(Options.ACCESS_KEY, "nobody");
    assertThatThrownBy(() -> start(ORDERS)).hasMessageContaining("HTTP 403 InvalidAccessKeyId");
  }

  @Test
  void aStoreThatDoesNotAnswerIsAskedAgainUntilTheTimeIsUp() {
    options.put(Options.STORE_URL, "http://127.0.0.1:1");
    options.put(Options.PART_RETRIES, "0");
    produce(ORDERS, 3);
    final SimulatedWorker worker = start(ORDERS);
    worker.poll(100);
    assertThat(worker.isPaused()).isTrue();
    assertThat(worker.timeout()).isEqualTo(5_000);
    assertThat(worker.committable()).isEmpty();

    clock.advance(Duration.ofMinutes(10));

    assertThatThrownBy(() -> worker.poll(100))
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("no answer (Connection refused")
        .hasMessageContaining("Check that the store runs and store.url")
        .hasMessageContaining("Given up after 600000 ms (retry.timeout.ms)");
  }

  @Test
  void aFullBucketHoldsUpAndLosesNothing() {
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
  void aBucketThatStaysFullIsNamed() {
    options.put(Options.RETRY_TIMEOUT_MS, "0");
    final SimulatedWorker worker = start(ORDERS);
    minio.setQuota(bucket, 1);
    produce(ORDERS, 3);

    assertThatThrownBy(() -> worker.poll(100))
        .hasMessageContaining("the store is full (HTTP 400 XMinioAdminBucketQuotaExceeded)")
        .hasMessageContaining("Free space or raise the quota");
  }

  @Test
  void aStoreThatOverwritesWhatItShouldNotIsRefused() {
    final ObjectStore real = S3ObjectStore.open(new ArchiveConfig(options));
    final S3ArchiveSinkTask task =
        new S3ArchiveSinkTask(config -> new OverwritingStore(real), clock);
    final SimulatedWorker worker = track(new SimulatedWorker(task, options, topics, null)).start();

    assertThatThrownBy(() -> worker.assign(List.of(ORDERS)))
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("ignores If-None-Match");
  }

  @Test
  void aLogEntryOfANewerVersionIsNotMisread() {
    minio
        .client()
        .putObject(
            r -> r.bucket(bucket).key(new ObjectNames("topics", 10).logEntry(ORDERS, 0)),
            software.amazon.awssdk.core.sync.RequestBody.fromString("{\"version\": 2}"));

    assertThatThrownBy(() -> start(ORDERS))
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("its version is 2, not 1");
  }

  /** Says of every object that it was not there. */
  private record OverwritingStore(ObjectStore store) implements ObjectStore {
    @Override
    public boolean putIfAbsent(final String key, final byte[] content, final String contentType) {
      store.putIfAbsent(key, content, contentType);
      return true;
    }

    @Override
    public java.util.Optional<byte[]> get(final String key) {
      return store.get(key);
    }

    @Override
    public boolean exists(final String key) {
      return store.exists(key);
    }

    @Override
    public java.util.Optional<String> first(final String prefix) {
      return store.first(prefix);
    }

    @Override
    public void close() {
      store.close();
    }
  }
}
