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
 * What may happen to tasks and store, drawn at random: tasks are killed before and after requests
 * to the store, lose their partitions and go on as if they had not, requests fail (some after they
 * were carried out), settings change, committed offsets are forgotten. Tasks are interleaved at
 * every request. The seed gives the same history again.
 */
final class RandomHistory {
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

  /** The process of a task ends here. */
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
  private final List<Turn> owners = new ArrayList<>();
  private final List<Turn> zombies = new ArrayList<>();
  private boolean isCalm;

  /** A history that has not begun. */
  RandomHistory(final MinioServer minio, final long seed) {
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

  /** Lives it, lets everything come to rest, and looks at the archive. */
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
      turn(random.nextInt(4) == 0 ? zombies : owners);
    }
    isCalm = true;
    zombies.forEach(Turn::end);
    finish();
    assertArchiveIsWhole();
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

  /** New tasks for all partitions; some of the old ones never hear of it. */
  private void rebalance() {
    for (final Turn old : List.copyOf(owners)) {
      if (random.nextBoolean()) {
        zombies.add(old);
      } else {
        old.take(worker -> worker.stop());
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
      owners.add(new Turn(share));
    }
  }

  private void turn(final List<Turn> tasks) {
    if (!tasks.isEmpty()) {
      tasks.get(random.nextInt(tasks.size())).take(this::step);
    }
  }

  private void step(final SimulatedWorker worker) {
    worker.poll(1 + random.nextInt(40));
    if (random.nextBoolean()) {
      assertNothingIsMissingBefore(worker.committable());
      if (owners.stream().anyMatch(owner -> owner.worker == worker)) {
        worker.commitAll();
      }
    }
  }

  private void finish() {
    rebalance();
    for (int round = 0; round < 2_000 && !isCaughtUp(); round++) {
      clock.advance(Duration.ofSeconds(15));
      turn(owners);
      owners.forEach(owner -> owner.take(SimulatedWorker::commitAll));
    }
    owners.forEach(Turn::end);
  }

  private boolean isCaughtUp() {
    return topics.partitions().stream()
        .allMatch(partition -> archived.get(partition).containsAll(expected.get(partition)));
  }

  private Map<String, String> settings() {
    final Map<String, String> settings = new HashMap<>(minio.options(bucket));
    settings.put(Options.RETRY_TIMEOUT_MS, "-1");
    settings.put(Options.FLUSH_SIZE, Integer.toString(1 + random.nextInt(12)));
    settings.put(Options.ROTATE_SCHEDULE_INTERVAL_MS, "10000");
    settings.put(Options.ROTATE_INTERVAL_MS, random.nextBoolean() ? "-1" : "5000");
    settings.put(Options.FORMAT_CLASS, random.nextBoolean() ? "JsonFormat" : "AvroFormat");
    settings.put(Options.TIMESTAMP_EXTRACTOR, "Record");
    settings.put(Options.PATH_FORMAT, random.nextBoolean() ? "'day'=dd/'hour'=HH" : "'at'=dd-HH");
    return settings;
  }

  private void written(final String key, final byte[] content) {
    if (!ArchiveReader.isData(key)) {
      return;
    }
    for (final long offset : ArchiveReader.offsets(key, content)) {
      assertThat(archived.get(ArchiveReader.nameOf(key).partition()).add(offset))
          .as("offset %d is archived twice: now in %s", offset, key)
          .isTrue();
    }
  }

  private void assertNothingIsMissingBefore(final Map<TopicPartition, Long> committable) {
    committable.forEach(
        (partition, committed) ->
            assertThat(archived.get(partition))
                .as("%s: what may be committed up to %d", partition, committed)
                .containsAll(expected.get(partition).stream().filter(o -> o < committed).toList()));
  }

  private void assertArchiveIsWhole() {
    final Map<TopicPartition, List<Long>> found = new HashMap<>();
    topics.partitions().forEach(partition -> found.put(partition, new ArrayList<>()));
    for (final String key : minio.keys(bucket, "topics/")) {
      if (ArchiveReader.isData(key)) {
        final ArchiveReader.Name name = ArchiveReader.nameOf(key);
        final List<Long> offsets = ArchiveReader.offsets(key, minio.content(bucket, key));
        assertThat(offsets).as(key).isSorted().first().isEqualTo(name.first());
        assertThat(offsets).as(key).last().isEqualTo(name.last());
        found.get(name.partition()).addAll(offsets);
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

  /** A task that may take a turn whenever another one waits for the store. */
  private final class Turn {
    private final List<TopicPartition> share;
    private final Map<String, String> settings = settings();
    private SimulatedWorker worker;
    private boolean isRunning;
    private boolean isOver;

    private Turn(final List<TopicPartition> share) {
      this.share = share;
    }

    private void take(final Consumer<SimulatedWorker> action) {
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
          owners.add(new Turn(share));
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
                  new FaultyStore(store, this::disturb, this::fail, RandomHistory.this::written),
              clock);
      return new SimulatedWorker(
          task, settings, topics, (record, error) -> CompletableFuture.completedFuture(null));
    }

    private void disturb() {
      if (!isCalm && random.nextInt(6) == 0) {
        turn(random.nextBoolean() ? zombies : owners);
      }
      fail();
    }

    private void fail() {
      if (isCalm) {
        return;
      }
      if (random.nextInt(25) == 0) {
        throw new Killed();
      }
      if (random.nextInt(15) == 0) {
        throw new StoreUnavailableException("the store did not answer", null);
      }
    }
  }
}
