// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.sink.ErrantRecordReporter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;

/** Base of tests that run tasks on MinIO, with two topic partitions and a manual clock. */
@ExtendWith(MinioServer.Extension.class)
abstract class SinkTaskTestBase {
  static final TopicPartition ORDERS = new TopicPartition("orders", 0);
  static final TopicPartition PAYMENTS = new TopicPartition("payments", 1);
  static final Instant NOON = Instant.parse("2026-11-21T12:00:00Z");

  final MinioServer minio;
  final SimulatedTopics topics = new SimulatedTopics();
  final ManualClock clock = new ManualClock(NOON);
  final Map<String, String> options = new HashMap<>();
  final List<String> reported = new ArrayList<>();
  private final List<SimulatedWorker> workers = new ArrayList<>();
  String bucket;

  private final ErrantRecordReporter reporter =
      (record, error) -> {
        reported.add(error.getMessage());
        return CompletableFuture.completedFuture(null);
      };

  SinkTaskTestBase(final MinioServer minio) {
    this.minio = minio;
  }

  @BeforeEach
  void createBucketAndTopics() {
    bucket = minio.newBucket();
    options.putAll(minio.options(bucket));
    options.put(ArchiveConfig.FLUSH_SIZE, "3");
    topics.create(ORDERS);
    topics.create(PAYMENTS);
  }

  @AfterEach
  void killWorkers() {
    workers.forEach(SimulatedWorker::kill);
  }

  final SimulatedWorker start(final TopicPartition... partitions) {
    return startWith(reporter, partitions);
  }

  final SimulatedWorker startWith(
      final ErrantRecordReporter errants, final TopicPartition... partitions) {
    final SimulatedWorker worker =
        track(SimulatedWorker.of(options, topics, clock, errants)).start();
    worker.assign(List.of(partitions));
    return worker;
  }

  final SimulatedWorker track(final SimulatedWorker worker) {
    workers.add(worker);
    return worker;
  }

  final void produce(final TopicPartition partition, final int count) {
    for (int i = 0; i < count; i++) {
      topics.append(partition, clock.millis(), null, Map.of("n", topics.end(partition)));
    }
  }

  final List<String> data() {
    return minio
        .keys(bucket, options.getOrDefault(ArchiveConfig.TOPICS_DIR, "topics") + "/")
        .stream()
        .filter(ArchiveReader::isData)
        .toList();
  }

  final Map<String, String> contents() {
    final Map<String, String> contents = new HashMap<>();
    data().forEach(key -> contents.put(key, text(key)));
    return contents;
  }

  final String text(final String key) {
    return new String(minio.content(bucket, key), StandardCharsets.UTF_8);
  }

  /** Return the offsets in the values {@code {"n": offset}} of all objects, in key order. */
  final List<Long> offsets() {
    return data().stream()
        .flatMap(key -> text(key).lines())
        .map(line -> Long.parseLong(line.replaceAll("\\D", "")))
        .toList();
  }
}
