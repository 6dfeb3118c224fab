// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import dev.lineagelab.connect.settings.StateSettings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.TopicExistsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates and checks the compacted state topic. */
final class StateTopic {
  private static final Logger LOG = LoggerFactory.getLogger(StateTopic.class);
  private static final int TIMEOUT_SECONDS = 15;
  private static final String POLICY = "cleanup.policy";

  /**
   * Configuration of the topic. Kafka never compacts the segment that it writes to, and its default
   * segment lasts a week: a worker that starts would read all that was written in it.
   */
  private static final Map<String, String> CONFIG =
      Map.of(
          POLICY,
          "compact",
          "segment.ms",
          "3600000",
          "segment.bytes",
          "16777216",
          "min.cleanable.dirty.ratio",
          "0.1");

  private StateTopic() {}

  /**
   * Create the topic unless it exists.
   *
   * @throws KafkaException Kafka did not respond, or denied access
   */
  static void ensure(final StateSettings settings, final String writer) {
    final Map<String, Object> options = new HashMap<>(settings.clients());
    options.put("client.id", "connect-lineage-state-admin-" + writer);
    options.put("default.api.timeout.ms", TIMEOUT_SECONDS * 1000);
    options.put("request.timeout.ms", TIMEOUT_SECONDS * 500);
    try (Admin admin = Admin.create(options)) {
      if (!create(admin, settings)) {
        check(admin, settings.topic());
      }
    } catch (final InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KafkaException("interrupted while creating topic " + settings.topic(), e);
    } catch (final ExecutionException | TimeoutException e) {
      throw new KafkaException(
          "cannot create or describe topic "
              + settings.topic()
              + ": "
              + Optional.ofNullable(e.getCause()).orElse(e),
          e);
    }
  }

  private static boolean create(final Admin admin, final StateSettings settings)
      throws InterruptedException, ExecutionException, TimeoutException {
    final Optional<Short> replicas =
        Optional.of(settings.replicationFactor()).filter(factor -> factor > 0);
    final NewTopic topic = new NewTopic(settings.topic(), Optional.of(1), replicas).configs(CONFIG);
    if (exists(admin, settings.topic())) {
      return false;
    }
    try {
      admin.createTopics(List.of(topic)).all().get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
      return true;
    } catch (final ExecutionException e) {
      if (e.getCause() instanceof TopicExistsException) {
        return false;
      }
      throw e;
    }
  }

  /** Checked first, as a worker may have permission to use the topic but not to create it. */
  private static boolean exists(final Admin admin, final String topic)
      throws InterruptedException, ExecutionException, TimeoutException {
    return admin.listTopics().names().get(TIMEOUT_SECONDS, TimeUnit.SECONDS).contains(topic);
  }

  private static void check(final Admin admin, final String topic)
      throws InterruptedException, TimeoutException {
    final ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    try {
      final String policy =
          admin
              .describeConfigs(List.of(resource))
              .all()
              .get(TIMEOUT_SECONDS, TimeUnit.SECONDS)
              .get(resource)
              .get(POLICY)
              .value();
      if (!"compact".equals(policy)) {
        LOG.warn(
            "Topic {} has {}={}, which deletes the state of runs in time; set it to compact",
            topic,
            POLICY,
            policy);
      }
    } catch (final ExecutionException e) {
      LOG.debug("Cannot read the configuration of topic {}", topic, e);
    }
  }
}
