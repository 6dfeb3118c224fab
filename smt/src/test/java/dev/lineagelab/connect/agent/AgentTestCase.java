// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.lineagelab.connect.model.ColumnLineage;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.DatasetPair;
import dev.lineagelab.connect.model.DatasetSchema;
import dev.lineagelab.connect.model.Field;
import dev.lineagelab.connect.model.LineageExtractor;
import dev.lineagelab.connect.observe.Cluster;
import dev.lineagelab.connect.observe.ConnectorLook;
import dev.lineagelab.connect.observe.CountBook;
import dev.lineagelab.connect.observe.Observations;
import dev.lineagelab.connect.observe.TaskObserver;
import dev.lineagelab.connect.runs.ConnectorStatus;
import dev.lineagelab.connect.runs.TaskStatus;
import dev.lineagelab.connect.settings.StateSettings;
import dev.lineagelab.connect.settings.WorkerProperties;
import dev.lineagelab.connect.state.SharedState;
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

/** An agent in a cluster that does what the test says, with events that go to a file. */
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
  final CountBook counts = new CountBook();
  final Observations observations = new Observations(counts);
  final StagedCluster cluster = new StagedCluster();
  SharedState state;
  LineageAgent agent;
  long now = 1_790_000_000_000L;

  /** One connector or none, as the test sets it. */
  static final class StagedCluster implements Cluster {
    final Map<String, ConnectorLook> looks = new TreeMap<>();
    final Set<String> recreated = new HashSet<>();
    boolean isSpeaker = true;

    @Override
    public Map<String, ConnectorLook> look() {
      return new TreeMap<>(looks);
    }

    @Override
    public Set<String> recreated() {
      final Set<String> taken = Set.copyOf(recreated);
      recreated.clear();
      return taken;
    }

    @Override
    public boolean speaksFor(final String connector, final ConnectorStatus status) {
      return isSpeaker;
    }

    @Override
    public String id() {
      return "cluster";
    }

    @Override
    public void close() {
      // Holds nothing.
    }
  }

  /** The topic, and the table that the option names; columns as they were seen. */
  static final LineageExtractor DESCRIBER =
      (connector, topics, names) -> {
        final Dataset topic = new Dataset(names.kafka(), "orders");
        final Dataset table = new Dataset("db", connector.config().getOrDefault("table", "orders"));
        final Map<Dataset, DatasetSchema> schemas = new HashMap<>();
        topics.forEach(
            seen ->
                schemas.put(
                    topic,
                    new DatasetSchema(
                        null,
                        null,
                        seen.valueSchema().fields().stream()
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
    return agent(shared, DESCRIBER);
  }

  LineageAgent agent(final SharedState shared, final LineageExtractor describer) {
    final Map<String, String> options =
        Map.of(
            "transport.type", "file",
            "transport.file", folder.resolve("events").toString(),
            "job.namespace", "lab",
            "state.topic", "");
    return new LineageAgent(
        cluster,
        new ConnectorSettings(options, WorkerProperties.UNKNOWN, observations),
        observations,
        counts,
        shared,
        describer);
  }

  void set(final String connectorState, final String taskState, final String... config) {
    final Map<String, String> options = new HashMap<>();
    for (int at = 0; at < config.length; at += 2) {
      options.put(config[at], config[at + 1]);
    }
    final TreeMap<Integer, TaskStatus> tasks = new TreeMap<>();
    if (taskState != null) {
      tasks.put(
          0,
          new TaskStatus(
              taskState, "w:1", "FAILED".equals(taskState) ? "java.io.IOException: why" : null));
    }
    cluster.looks.put(
        "orders",
        new ConnectorLook(
            new ConnectorDefinition("orders", ConnectorType.SINK, "Sink", options, true),
            new ConnectorStatus(connectorState, "w:1", null, tasks),
            true));
  }

  /** Some looks, a second apart. */
  void look(final int times) throws Exception {
    for (int time = 0; time < times; time++) {
      agent.cycle(now);
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

  /** Types with the number of the run; the last word of the closing agent comes last. */
  static String told(final List<JsonNode> events) {
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

  /** A connector of which only its transform tells the topics: all that was seen, as outputs. */
  void describeByWhatIsSeen() {
    agent.close(now);
    agent =
        agent(
            state,
            (connector, topics, names) ->
                new ConnectorLineage(
                    List.of(),
                    topics.stream().map(seen -> new Dataset(names.kafka(), seen.topic())).toList(),
                    List.of(),
                    topics.stream()
                        .filter(seen -> seen.valueSchema() != null)
                        .collect(
                            Collectors.toMap(
                                seen -> new Dataset(names.kafka(), seen.topic()),
                                seen ->
                                    new DatasetSchema(null, null, List.of(Field.of("id", "any"))))),
                    Map.of(),
                    List.of()));
  }

  /** Transforms count time by the real clock. */
  TaskObserver configured() {
    final TaskObserver task = observations.configured(Map.of());
    now = Math.max(now, task.configuredAt()) + 1;
    return task;
  }
}
