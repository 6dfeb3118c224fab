// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import dev.lineagelab.connect.settings.StateSettings;
import dev.lineagelab.connect.settings.WorkerProperties;
import java.util.HashSet;
import java.util.Set;

/**
 * Detects changes and deletions in the worker's config topic: polling misses a connector that is
 * deleted and created again between two polls, and asking for every configuration at every poll is
 * work for the herder.
 */
public final class ConfigTopicReader implements DeletionDetector {
  private static final String KEY_PREFIX = "connector-";

  private final WorkerTopic topic;
  private final Set<String> deleted = new HashSet<>();
  private final Set<String> recreated = new HashSet<>();
  private final Set<String> changed = new HashSet<>();

  private ConfigTopicReader(final WorkerTopic topic) {
    this.topic = topic;
  }

  /** Read the config topic from its end on; {@link #NONE} for a worker without one. */
  public static DeletionDetector open(
      final WorkerProperties worker, final StateSettings settings, final String pluginId) {
    final String name = worker.get("config.storage.topic");
    if (name == null || !settings.clients().containsKey("bootstrap.servers")) {
      return NONE;
    }
    return new ConfigTopicReader(
        new WorkerTopic(
            name,
            WorkerTopic.consumer(settings, "connect-lineage-config-consumer-" + pluginId),
            false,
            "a connector that is deleted and recreated between two polls continues its run"));
  }

  @Override
  public void poll() {
    topic.poll(this::read);
  }

  private void read(final String key, final boolean isTombstone) {
    if (!key.startsWith(KEY_PREFIX)) {
      return;
    }
    final String connector = key.substring(KEY_PREFIX.length());
    changed.add(connector);
    if (isTombstone) {
      deleted.add(connector);
    } else if (deleted.remove(connector)) {
      recreated.add(connector);
    }
  }

  @Override
  public boolean isDeleted(final String connector) {
    return deleted.contains(connector);
  }

  @Override
  public Set<String> takeRecreated() {
    final Set<String> taken = Set.copyOf(recreated);
    recreated.clear();
    return taken;
  }

  @Override
  public Set<String> takeChanged() {
    final Set<String> taken = Set.copyOf(changed);
    changed.clear();
    return taken;
  }

  @Override
  public boolean isReading() {
    return topic.isReading();
  }

  @Override
  public void close() {
    topic.close();
  }
}
