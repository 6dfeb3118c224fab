// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;

/**
 * Randomized run of tasks on a faulty store: tasks are killed before and after requests, continue
 * as zombies after a rebalance, requests fail (some after they took effect), options change,
 * committed offsets expire. Tasks are interleaved at every request. Equal seeds give equal runs.
 */
final class RandomizedRun {
  private static final Schema FIRST =
      SchemaBuilder.struct().name("lab.Order").field("offset", Schema.INT64_SCHEMA).build();
  private static final Schema SECOND =
      SchemaBuilder.struct()
          .name("lab.Order")
          .field("offset", Schema.INT64_SCHEMA)
          .field("note", Schema.OPTIONAL_STRING_SCHEMA)
          .build();
  private static final Instant NOW = Instant.parse("2026-11-21T12:00:00Z");
  private static final int STEPS = 80;

  /** Simulated crash of a task. */
  private static final class Killed extends Error {
    private static final long serialVersionUID = 1L;
  }

  private final Random random;
  private final ManualClock clock = new ManualClock(NOW);
  private final SimulatedTopics topics = new SimulatedTopics();
  private final MinioServer minio;
  private final String bucket;
  private final Map<TopicPartition, Set<Long>> expected = new HashMap<>();
  private final Map<TopicPartition, Set<Long>> archived = new HashMap<>();
  private final ObjectStore store;
  private final List<InterleavedTask> owners = new ArrayList<>();
  private final List<InterleavedTask> zombies = new ArrayList<>();
  private boolean isFaultFree;

  /** Prepare the run of a seed. */
  RandomizedRun(final MinioServer minio, final long seed) {
    this.minio = minio;
    bucket = minio.newBucket();
    store = S3ObjectStore.open(new ArchiveConfig(minio.options(bucket)));
    random = new Random(seed);
    for (final String topic : List.of("orders", "payments")) {
      for (int partition = 0; partition < 2; partition++) {
        topics.create(new TopicPartition(topic, partition));
      }
    }
    topics
        .partitions()
        .forEach(
            partition -> {
              expected.put(partition, new TreeSet<>());
              archived.put(partition, new TreeSet<>());
            });
  }

  /** Run all steps, let the owners catch up without faults, then check the archive. */
  void run() {
    for (int step = 0; step < STEPS; step++) {
      produce();
      clock.advance(Duration.ofSeconds(random.nextInt(20)));
      if (owners.isEmpty() || random.nextInt(12) == 0) {
        rebalance();
      }
      if (random.nextInt(30) == 0) {
        topics.expireCommitted();
      }
      step(random.nextInt(4) == 0 ? zombies : owners);
    }
    isFaultFree = true;
    zombies.forEach(InterleavedTask::end);
    finish();
    assertArchiveIsComplete();
    store.close();
  }

  private void produce() {
    for (final TopicPartition partition : topics.partitions()) {
      for (int i = random.nextInt(4); i > 0; i--) {
        produceOne(partition);
      }
    }
  }

  private void produceOne(final TopicPartition partition) {
    if (random.nextInt(20) == 0) {
      topics.skip(partition, 1 + random.nextInt(3));
    }
    final long timestamp =
        clock.millis() - (random.nextInt(3) == 0 ? random.nextInt(10_000_000) : 0);
    final long offset = topics.end(partition);
    if (random.nextInt(25) == 0) {
      topics.append(partition, timestamp, null, null);
    } else if (random.nextInt(25) == 0) {
      topics.append(partition, null, FIRST, new Struct(FIRST).put("offset", offset));
    } else {
      final Schema schema = random.nextInt(3) == 0 ? SECOND : FIRST;
      topics.append(partition, timestamp, schema, new Struct(schema).put("offset", offset));
      expected.get(partition).add(offset);
    }
  }

  /** Assign all partitions to new tasks; some of the old ones continue as zombies. */
  private void rebalance() {
    for (final InterleavedTask old : List.copyOf(owners)) {
      if (random.nextBoolean()) {
        zombies.add(old);
      } else {
        old.run(worker -> worker.stop());
      }
    }
    owners.clear();
    final int count = 1 + random.nextInt(3);
    final List<TopicPartition> partitions = new ArrayList<>(topics.partitions());
    Collections.shuffle(partitions, random);
    for (int i = 0; i < count; i++) {
      final List<TopicPartition> share = new ArrayList<>();
      for (int p = i; p < partitions.size(); p += count) {
        share.add(partitions.get(p));
      }
      owners.add(new InterleavedTask(share));
    }
  }

  private void step(final List<InterleavedTask> tasks) {
    if (!tasks.isEmpty()) {
      tasks.get(random.nextInt(tasks.size())).run(this::step);
    }
  }

  private void step(final SimulatedWorker worker) {
    worker.poll(1 + random.nextInt(40));
    if (random.nextBoolean()) {
      assertArchivedBelow(worker.committable());
      if (owners.stream().anyMatch(owner -> owner.worker == worker)) {
        worker.commitAll();
      }
    }
  }

  private void finish() {
    rebalance();
    for (int round = 0; round < 2_000 && !isCaughtUp(); round++) {
      clock.advance(Duration.ofSeconds(15));
      step(owners);
      owners.forEach(owner -> owner.run(SimulatedWorker::commitAll));
    }
    owners.forEach(InterleavedTask::end);
  }

  private boolean isCaughtUp() {
    return topics.partitions().stream()
        .allMatch(partition -> archived.get(partition).containsAll(expected.get(partition)));
  }

  private Map<String, String> randomOptions() {
    final Map<String, String> options = new HashMap<>(minio.options(bucket));
    options.put(ArchiveConfig.RETRY_TIMEOUT_MS, "-1");
    options.put(ArchiveConfig.FLUSH_SIZE, Integer.toString(1 + random.nextInt(12)));
    options.put(
        ArchiveConfig.ROTATE_SCHEDULE_INTERVAL_MS, random.nextBoolean() ? "10000" : "15000");
    return options;
  }

  private void onWritten(final String key, final byte[] content) {
    if (!ArchiveReader.isData(key)) {
      return;
    }
    for (final long offset : ArchiveReader.offsets(content)) {
      assertThat(archived.get(ArchiveReader.parse(key).partition()).add(offset))
          .as("offset %d is archived twice: now in %s", offset, key)
          .isTrue();
    }
  }

  private void assertArchivedBelow(final Map<TopicPartition, Long> committable) {
    committable.forEach(
        (partition, committed) ->
            assertThat(archived.get(partition))
                .as("%s: committable up to %d", partition, committed)
                .containsAll(expected.get(partition).stream().filter(o -> o < committed).toList()));
  }

  private void assertArchiveIsComplete() {
    final Map<TopicPartition, List<Long>> found = new HashMap<>();
    topics.partitions().forEach(partition -> found.put(partition, new ArrayList<>()));
    for (final String key : minio.keys(bucket, "topics/")) {
      if (ArchiveReader.isData(key)) {
        final ArchiveReader.DataKey parsed = ArchiveReader.parse(key);
        final List<Long> offsets = ArchiveReader.offsets(minio.content(bucket, key));
        assertThat(offsets).as(key).isSorted().first().isEqualTo(parsed.first());
        assertThat(offsets).as(key).last().isEqualTo(parsed.last());
        found.get(parsed.partition()).addAll(offsets);
      }
    }
    found.forEach(
        (partition, offsets) -> {
          Collections.sort(offsets);
          assertThat(offsets)
              .as("%s", partition)
              .containsExactlyElementsOf(expected.get(partition));
        });
  }

  /** Task that may run a step while another one waits for the store. */
  private final class InterleavedTask {
    private final List<TopicPartition> share;
    private final Map<String, String> options = randomOptions();
    private SimulatedWorker worker;
    private boolean isRunning;
    private boolean isOver;

    private InterleavedTask(final List<TopicPartition> share) {
      this.share = share;
    }

    private void run(final Consumer<SimulatedWorker> action) {
      if (isRunning || isOver) {
        return;
      }
      isRunning = true;
      try {
        if (worker == null) {
          worker = newWorker().start();
          worker.assign(share);
        }
        action.accept(worker);
      } catch (final Killed e) {
        end();
        if (owners.remove(this)) {
          owners.add(new InterleavedTask(share));
        }
      } finally {
        isRunning = false;
      }
    }

    private void end() {
      isOver = true;
      if (worker != null) {
        worker.kill();
      }
    }

    private SimulatedWorker newWorker() {
      final S3ArchiveSinkTask task =
          new S3ArchiveSinkTask(
              config ->
                  new FaultyStore(
                      store, this::beforeRequest, this::injectFault, RandomizedRun.this::onWritten),
              clock);
      return new SimulatedWorker(
          task, options, topics, (record, error) -> CompletableFuture.completedFuture(null));
    }

    private void beforeRequest() {
      if (!isFaultFree && random.nextInt(6) == 0) {
        step(random.nextBoolean() ? zombies : owners);
      }
      injectFault();
    }

    private void injectFault() {
      if (isFaultFree) {
        return;
      }
      if (random.nextInt(25) == 0) {
        throw new Killed();
      }
      if (random.nextInt(15) == 0) {
        throw new StoreUnavailableException("injected failure", null);
      }
    }
  }
}
