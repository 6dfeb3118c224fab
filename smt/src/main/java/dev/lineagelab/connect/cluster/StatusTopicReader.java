// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import dev.lineagelab.connect.settings.StateSettings;
import dev.lineagelab.connect.settings.WorkerProperties;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * Topics that each connector has used, which Connect tracks in the worker's status topic (KIP-558).
 * The topic is read only if a connector's topics cannot be known otherwise.
 */
public final class StatusTopicReader implements ActiveTopics {
  private static final String KEY_PREFIX = "status-topic-";
  private static final String SEPARATOR = ":connector-";

  private final Supplier<WorkerTopic> source;
  private final Map<String, Set<String>> topics = new HashMap<>();
  private WorkerTopic opened;

  StatusTopicReader(final Supplier<WorkerTopic> source) {
    this.source = source;
  }

  /** Read the status topic from the first poll on; {@link #NONE} for a worker that tracks none. */
  public static ActiveTopics of(
      final WorkerProperties worker, final StateSettings settings, final String pluginId) {
    final String name = worker.get("status.storage.topic");
    if (name == null
        || !settings.clients().containsKey("bootstrap.servers")
        || "false".equalsIgnoreCase(worker.get("topic.tracking.enable"))) {
      return NONE;
    }
    return new StatusTopicReader(
        () ->
            new WorkerTopic(
                name,
                WorkerTopic.consumer(settings, "connect-lineage-status-consumer-" + pluginId),
                true,
                "which topics sinks with topics.regex read is known only with the transform"));
  }

  @Override
  public void poll() {
    if (opened == null) {
      opened = source.get();
    }
    opened.poll(this::read);
  }

  /** Read a key; names of topics have no colon. */
  void read(final String key, final boolean isTombstone) {
    final int separator = key.indexOf(SEPARATOR);
    if (!key.startsWith(KEY_PREFIX) || separator < 0) {
      return;
    }
    final String topic = key.substring(KEY_PREFIX.length(), separator);
    final String connector = key.substring(separator + SEPARATOR.length());
    if (isTombstone) {
      topics.getOrDefault(connector, new TreeSet<>()).remove(topic);
    } else {
      topics.computeIfAbsent(connector, unused -> new TreeSet<>()).add(topic);
    }
  }

  @Override
  public Set<String> of(final String connector) {
    return Set.copyOf(topics.getOrDefault(connector, Set.of()));
  }

  @Override
  public void close() {
    if (opened != null) {
      opened.close();
    }
  }
}
