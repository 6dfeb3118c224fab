// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.lineagelab.connect.cluster.ConnectCluster;
import dev.lineagelab.connect.cluster.ConnectorSnapshot;
import dev.lineagelab.connect.model.ColumnLineage;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.DatasetPair;
import dev.lineagelab.connect.model.DatasetSchema;
import dev.lineagelab.connect.model.Field;
import dev.lineagelab.connect.model.LineageExtractor;
import dev.lineagelab.connect.runs.ConnectorStatus;
import dev.lineagelab.connect.runs.TaskStatus;
import dev.lineagelab.connect.settings.StateSettings;
import dev.lineagelab.connect.settings.WorkerProperties;
import dev.lineagelab.connect.state.SharedState;
import dev.lineagelab.connect.tasks.RecordTotals;
import dev.lineagelab.connect.tasks.TaskObservations;
import dev.lineagelab.connect.tasks.TaskObserver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Base of tests with an agent on a scripted cluster, whose events go to a file. */
abstract class AgentTestCase {
  static final ObjectMapper JSON = new ObjectMapper();
  static final String TRANSFORM = "dev.lineagelab.connect.OpenLineageTransform";
  static final Schema TWO =
      SchemaBuilder.struct()
          .field("id", Schema.INT32_SCHEMA)
          .field("name", Schema.STRING_SCHEMA)
          .build();
  static final Schema ONE = SchemaBuilder.struct().field("id", Schema.INT32_SCHEMA).build();

  @TempDir Path folder;
  final String threadName = Thread.currentThread().getName();
  final RecordTotals totals = new RecordTotals();
  final TaskObservations observations = new TaskObservations(totals);
  final ScriptedCluster cluster = new ScriptedCluster();
  SharedState state;
  LineageAgent agent;
  long now = 1_790_000_000_000L;

  /** Cluster with the snapshots that a test sets. */
  static final class ScriptedCluster implements ConnectCluster {
    final Map<String, ConnectorSnapshot> snapshots = new TreeMap<>();
    final Set<String> recreated = new HashSet<>();
    boolean isLeader = true;

    @Override
    public Map<String, ConnectorSnapshot> snapshots() {
      return new TreeMap<>(snapshots);
    }

    @Override
    public Set<String> takeRecreated() {
      final Set<String> taken = Set.copyOf(recreated);
      recreated.clear();
      return taken;
    }

    @Override
    public boolean isLeaderFor(final String connector, final ConnectorStatus status) {
      return isLeader;
    }

    @Override
    public String id() {
      return "cluster";
    }

    @Override
    public void close() {
      // There is nothing to close.
    }
  }

  /** Lineage from topic orders to the table of option table, with observed columns. */
  static final LineageExtractor EXTRACTOR =
      (connector, topics, names) -> {
        final Dataset topic = new Dataset(names.kafka(), "orders");
        final Dataset table = new Dataset("db", connector.config().getOrDefault("table", "orders"));
        final Map<Dataset, DatasetSchema> schemas = new HashMap<>();
        topics.forEach(
            observed ->
                schemas.put(
                    topic,
                    new DatasetSchema(
                        null,
                        null,
                        observed.valueSchema().fields().stream()
                            .map(field -> Field.of(field.name(), "any"))
                            .toList())));
        return new ConnectorLineage(
            List.of(topic),
            List.of(table),
            List.of(new DatasetPair(topic, table, ColumnLineage.NONE)),
            schemas,
            Map.of(),
            List.of());
      };

  @BeforeEach
  void start() {
    Thread.currentThread().setName("task-thread-orders-0");
    state = SharedState.open(new StateSettings("", (short) -1, Map.of()), "cluster", "a");
    agent = agent(state);
  }

  @AfterEach
  void stop() {
    agent.close(now);
    Thread.currentThread().setName(threadName);
  }

  LineageAgent agent(final SharedState shared) {
    return agent(shared, EXTRACTOR);
  }

  LineageAgent agent(final SharedState shared, final LineageExtractor extractor) {
    final Map<String, String> options =
        Map.of(
            "transport.type", "file",
            "transport.file", folder.resolve("events").toString(),
            "job.namespace", "lab",
            "state.topic", "");
    final ConnectorSettings settings =
        new ConnectorSettings(options, WorkerProperties.UNKNOWN, observations);
    return new LineageAgent(
        cluster, shared, new AgentContext(settings, observations, totals, extractor));
  }

  void set(final String connectorState, final String taskState, final String... config) {
    final Map<String, String> options = new HashMap<>();
    for (int at = 0; at < config.length; at += 2) {
      options.put(config[at], config[at + 1]);
    }
    final TreeMap<Integer, TaskStatus> tasks = new TreeMap<>();
    if (taskState != null) {
      tasks.put(0, task(taskState));
    }
    cluster.snapshots.put(
        "orders",
        new ConnectorSnapshot(
            new ConnectorDefinition("orders", ConnectorType.SINK, "Sink", options, true),
            new ConnectorStatus(connectorState, "w:1", null, tasks),
            true));
  }

  private static TaskStatus task(final String state) {
    return new TaskStatus(state, "w:1", "FAILED".equals(state) ? "java.io.IOException: why" : null);
  }

  /** Add tasks 1, 2 and so on to the connector, or change their states. */
  void addTasks(final String... states) {
    final ConnectorSnapshot known = cluster.snapshots.get("orders");
    final TreeMap<Integer, TaskStatus> tasks = new TreeMap<>(known.status().tasks());
    for (int at = 0; at < states.length; at++) {
      tasks.put(at + 1, task(states[at]));
    }
    cluster.snapshots.put(
        "orders",
        new ConnectorSnapshot(
            known.definition(), new ConnectorStatus("RUNNING", "w:1", null, tasks), true));
  }

  /** Poll repeatedly at intervals of a second. */
  void poll(final int times) throws Exception {
    for (int time = 0; time < times; time++) {
      agent.poll(now);
      now += 1000;
    }
  }

  List<JsonNode> events() throws Exception {
    agent.close(now);
    final Path file = folder.resolve("events");
    final List<JsonNode> events = new ArrayList<>();
    for (final String line : Files.exists(file) ? Files.readAllLines(file) : List.<String>of()) {
      events.add(JSON.readTree(line));
    }
    return events;
  }

  /** Event types with the number of their run; the final event of the closing agent is last. */
  static String eventTypes(final List<JsonNode> events) {
    final List<String> runs =
        events.stream().map(event -> event.at("/run/runId").asText()).distinct().toList();
    return String.join(
        " ",
        events.stream()
            .map(
                event ->
                    event.get("eventType").asText()
                        + (runs.indexOf(event.at("/run/runId").asText()) + 1))
            .toList());
  }

  /** Use lineage of a source whose outputs are the observed topics. */
  void extractFromObservedTopics() {
    agent.close(now);
    agent =
        agent(
            state,
            (connector, topics, names) ->
                new ConnectorLineage(
                    List.of(),
                    topics.stream()
                        .map(observed -> new Dataset(names.kafka(), observed.topic()))
                        .toList(),
                    List.of(),
                    topics.stream()
                        .filter(observed -> observed.valueSchema() != null)
                        .collect(
                            Collectors.toMap(
                                observed -> new Dataset(names.kafka(), observed.topic()),
                                observed ->
                                    new DatasetSchema(null, null, List.of(Field.of("id", "any"))))),
                    Map.of(),
                    List.of()));
  }

  /** Register a transform, which takes its time from the system clock. */
  TaskObserver registered() {
    final TaskObserver task = observations.register(Map.of());
    now = Math.max(now, task.configuredAt()) + 1;
    return task;
  }
}
