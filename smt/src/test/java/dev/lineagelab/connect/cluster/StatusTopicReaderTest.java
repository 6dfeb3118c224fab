// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.settings.WorkerProperties;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StatusTopicReaderTest {
  private static final Map<String, String> WORKER =
      Map.of("bootstrap.servers", "127.0.0.1:1", "status.storage.topic", "connect-status");

  private final StatusTopicReader reader =
      new StatusTopicReader(
          () -> {
            throw new AssertionError("the topic is not read in this test");
          });

  @Test
  void topicsAreThoseOfTheKeys() {
    reader.read("status-topic-shop.orders:connector-lake", false);
    reader.read("status-topic-shop.bids:connector-lake", false);
    reader.read("status-topic-shop.bids:connector-archive", false);
    assertThat(reader.of("lake")).containsExactlyInAnyOrder("shop.orders", "shop.bids");
    assertThat(reader.of("archive")).containsExactly("shop.bids");
    assertThat(reader.of("other")).isEmpty();
  }

  @Test
  void resetTopicsAreForgotten() {
    reader.read("status-topic-shop.bids:connector-lake", true);
    reader.read("status-topic-shop.orders:connector-lake", false);
    reader.read("status-topic-shop.bids:connector-lake", false);
    reader.read("status-topic-shop.orders:connector-lake", true);
    assertThat(reader.of("lake")).containsExactly("shop.bids");
  }

  @Test
  void nameOfAConnectorMayContainTheSeparator() {
    reader.read("status-topic-orders:connector-a:connector-b", false);
    assertThat(reader.of("a:connector-b")).containsExactly("orders");
  }

  @Test
  void otherKeysAreIgnored() {
    reader.read("status-connector-lake", false);
    reader.read("status-task-lake-0", false);
    reader.read("status-topic-orders", false);
    reader.read("status-connector-x:connector-lake", false);
    assertThat(reader.of("lake")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "status.storage.topic,",
    "bootstrap.servers,",
    "topic.tracking.enable, false",
    "topic.tracking.enable, FALSE"
  })
  void workerWithoutTrackingHasNone(final String property, final String value) {
    final Map<String, String> worker = new HashMap<>(WORKER);
    worker.put(property, value);
    worker.values().removeIf(found -> found == null);
    assertThat(open(worker)).isSameAs(ActiveTopics.NONE);
  }

  @Test
  void topicIsNotReadBeforeItIsNeeded() {
    try (ActiveTopics found = open(WORKER)) {
      assertThat(found).isInstanceOf(StatusTopicReader.class);
      assertThat(found.of("lake")).isEmpty();
    }
  }

  private static ActiveTopics open(final Map<String, String> properties) {
    final WorkerProperties worker = new WorkerProperties(properties);
    return StatusTopicReader.of(worker, PluginSettings.of(Map.of(), worker).state(), "test");
  }
}
