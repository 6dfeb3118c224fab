// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.runs.ConnectorStatus;
import dev.lineagelab.connect.settings.WorkerProperties;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.connect.health.ConnectClusterDetails;
import org.apache.kafka.connect.health.ConnectClusterState;
import org.apache.kafka.connect.health.ConnectorHealth;
import org.apache.kafka.connect.health.ConnectorState;
import org.apache.kafka.connect.health.ConnectorType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RestConnectClusterTest {
  private static final long MINUTE = 60_000;

  private final Herder herder = new Herder();
  private final ConfigTopic topic = new ConfigTopic();
  private final StatusTopic status = new StatusTopic();
  private long now = 1_790_000_000_000L;

  /** State of a worker that counts the requests for configurations. */
  private static final class Herder implements ConnectClusterState {
    private final Map<String, Map<String, String>> configs = new TreeMap<>();
    private int configRequests;
    private ConnectorType type = ConnectorType.SINK;

    @Override
    public Collection<String> connectors() {
      return configs.keySet();
    }

    @Override
    public ConnectorHealth connectorHealth(final String name) {
      return new ConnectorHealth(name, new ConnectorState("RUNNING", "w:1", null), Map.of(), type);
    }

    @Override
    public Map<String, String> connectorConfig(final String name) {
      configRequests++;
      return configs.get(name);
    }

    @Override
    public ConnectClusterDetails clusterDetails() {
      return () -> "kafka";
    }
  }

  private static final class ConfigTopic implements DeletionDetector {
    private final Set<String> changed = new HashSet<>();
    private boolean isReading = true;

    @Override
    public void poll() {
      // Tests add changes themselves.
    }

    @Override
    public boolean isDeleted(final String connector) {
      return false;
    }

    @Override
    public Set<String> takeRecreated() {
      return Set.of();
    }

    @Override
    public Set<String> takeChanged() {
      final Set<String> taken = Set.copyOf(changed);
      changed.clear();
      return taken;
    }

    @Override
    public boolean isReading() {
      return isReading;
    }

    @Override
    public void close() {
      // There is nothing to close.
    }
  }

  /** Status topic that counts how often it is read. */
  private static final class StatusTopic implements ActiveTopics {
    private final Map<String, Set<String>> topics = new HashMap<>();
    private int polls;

    @Override
    public void poll() {
      polls++;
    }

    @Override
    public Set<String> of(final String connector) {
      return polls == 0 ? Set.of() : topics.getOrDefault(connector, Set.of());
    }

    @Override
    public void close() {
      // There is nothing to close.
    }
  }

  private RestConnectCluster cluster(final Map<String, String> worker) {
    return new RestConnectCluster(herder, new WorkerProperties(worker), topic, status, () -> now);
  }

  private static ConnectorStatus status(final String worker) {
    return ConnectorStatus.of("RUNNING", worker, Map.of());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "listeners=http://127.0.0.1:8083                                  | 127.0.0.1:8083",
        "listeners=http://a:1 rest.advertised.host.name=b rest.advertised.port=2 | b:2",
        "listeners=https://a:2,http://a:1                                 | a:1",
        "listeners=http://a:1,https://a:2 rest.advertised.listener=https  | a:2",
        "listeners=HTTPS://a:2                                            | a:2",
        "listeners=http://[::1]:8083                                      | [::1]:8083",
      })
  void leaderIsTheWorkerThatTheStatusNames(final String properties, final String worker) {
    final Map<String, String> options = new HashMap<>();
    for (final String property : properties.split(" ")) {
      options.put(property.split("=")[0], property.split("=")[1]);
    }
    final RestConnectCluster cluster = cluster(options);
    assertThat(cluster.isLeaderFor("orders", status("other:1"))).isFalse();
    assertThat(cluster.isLeaderFor("orders", status(worker))).isTrue();
    assertThat(cluster.isLeaderFor("orders", status(null))).isTrue();
    assertThat(cluster.isLeaderFor("orders", status("other:1"))).isFalse();
  }

  private void poll(final RestConnectCluster cluster, final int times) throws Exception {
    for (int poll = 0; poll < times; poll++) {
      cluster.snapshots();
      now += 500;
    }
  }

  @Test
  void asksForConfigurationsOnlyWhenTheConfigTopicHasChanged() throws Exception {
    herder.configs.put("orders", Map.of("a", "1"));
    final RestConnectCluster cluster = cluster(Map.of());
    now += MINUTE;
    poll(cluster, 100);
    assertThat(herder.configRequests).isLessThan(5);
    final Map<String, String> changed = Map.of("a", "2");
    topic.changed.add("orders");
    cluster.snapshots();
    // The worker applies a change after it is in the topic.
    now += 500;
    herder.configs.put("orders", changed);
    assertThat(cluster.snapshots().get("orders").definition().config()).isEqualTo(changed);
  }

  @Test
  void asksForAllConfigurationsWhileTheConfigTopicIsNotReadable() throws Exception {
    herder.configs.put("orders", Map.of("a", "1"));
    topic.isReading = false;
    final RestConnectCluster cluster = cluster(Map.of());
    poll(cluster, 3);
    assertThat(herder.configRequests).isEqualTo(3);
  }

  @Test
  void connectorThatIsCreatedAgainHasItsNewConfiguration() throws Exception {
    herder.configs.put("orders", Map.of("a", "1"));
    final RestConnectCluster cluster = cluster(Map.of());
    poll(cluster, 1);
    herder.configs.clear();
    poll(cluster, 1);
    herder.configs.put("orders", Map.of("a", "2"));
    assertThat(cluster.snapshots().get("orders").definition().config()).isEqualTo(Map.of("a", "2"));
  }

  private static final Map<String, String> BY_PATTERN = Map.of("topics.regex", "shop[.].*");

  private Set<String> activeTopics(final Map<String, String> config) throws Exception {
    herder.configs.put("orders", config);
    status.topics.put("orders", Set.of("shop.orders", "shop.bids"));
    final RestConnectCluster cluster = cluster(Map.of());
    poll(cluster, 1);
    return cluster.snapshots().get("orders").definition().activeTopics();
  }

  @Test
  void sinkWithAPatternHasTheTopicsThatItHasRead() throws Exception {
    assertThat(activeTopics(BY_PATTERN)).containsExactlyInAnyOrder("shop.orders", "shop.bids");
  }

  @Test
  void sourceHasTheTopicsThatItHasWritten() throws Exception {
    herder.type = ConnectorType.SOURCE;
    assertThat(activeTopics(Map.of("topic.prefix", "shop")))
        .containsExactlyInAnyOrder("shop.orders", "shop.bids");
  }

  @Test
  void topicsThatTheConfigurationNamesAreNotReadFromTheStatusTopic() throws Exception {
    assertThat(activeTopics(Map.of("topics", "shop.orders"))).isEmpty();
    assertThat(status.polls).isZero();
  }

  @Test
  void topicsThatTheTransformObservesAreNotReadFromTheStatusTopic() throws Exception {
    final Map<String, String> config = new HashMap<>(BY_PATTERN);
    config.put("transforms", "lineage");
    config.put("transforms.lineage.type", TransformConfig.TRANSFORM);
    assertThat(activeTopics(config)).isEmpty();
    assertThat(status.polls).isZero();
  }
}
