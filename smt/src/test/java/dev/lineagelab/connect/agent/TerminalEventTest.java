// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.lineagelab.connect.settings.WorkerProperties;
import dev.lineagelab.connect.state.SharedTopic;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Terminal events are sent after any outage, by any worker. A missing folder is the outage. */
@Timeout(60)
class TerminalEventTest extends AgentTestCase {
  private static final int TAKE_OVER_POLLS = 15;

  private final SharedTopic topic = new SharedTopic();

  /** Agent whose events expire at the first failure, as after an outage of many minutes. */
  private LineageAgent worker(final String name, final Path file) {
    final Map<String, String> options =
        Map.of(
            "transport.type", "file",
            "transport.file", file.toString(),
            "retry.timeout.ms", "0",
            "retry.backoff.ms", "1",
            "retry.backoff.max.ms", "2",
            "shutdown.timeout.ms", "200");
    final ConnectorSettings settings =
        new ConnectorSettings(options, WorkerProperties.UNKNOWN, observations);
    return new LineageAgent(
        cluster,
        topic.open("cluster", name),
        new AgentContext(settings, observations, totals, EXTRACTOR));
  }

  private void use(final String name, final Path file) {
    agent.close(now);
    agent = worker(name, file);
  }

  private static List<String> typesIn(final Path file) throws Exception {
    final List<String> types = new ArrayList<>();
    for (final String line : Files.exists(file) ? Files.readAllLines(file) : List.<String>of()) {
      final JsonNode event = JSON.readTree(line);
      types.add(event.get("eventType").asText());
    }
    return types;
  }

  private static void await(final Callable<Boolean> condition) throws Exception {
    while (!condition.call()) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  private static long failedAttempts(final Path file) throws Exception {
    final ObjectName name =
        new ObjectName(
            "dev.lineagelab.connect:type=Emitter,target=" + ObjectName.quote("file " + file));
    return (long) ManagementFactory.getPlatformMBeanServer().getAttribute(name, "Retries");
  }

  @Test
  void failIsSentAfterAnOutageLongerThanTheRetryTimeout() throws Exception {
    final Path file = folder.resolve("away").resolve("events");
    use("a", file);
    set("RUNNING", "FAILED");
    poll(2);
    await(() -> failedAttempts(file) > 3);
    Files.createDirectory(file.getParent());
    await(() -> typesIn(file).contains("FAIL"));
    poll(1);
    assertThat(typesIn(file)).containsExactly("FAIL");
  }

  @Test
  void anotherWorkerSendsTheTerminalEventOfAKilledOne() throws Exception {
    final LineageAgent killed = worker("a", folder.resolve("away").resolve("events"));
    final Path file = folder.resolve("b");
    set("RUNNING", "FAILED");
    killed.poll(now);
    use("b", file);
    poll(TAKE_OVER_POLLS);
    await(() -> typesIn(file).equals(List.of("FAIL")));
    poll(1);
    agent.close(now);
    use("c", folder.resolve("c"));
    poll(TAKE_OVER_POLLS);
    agent.close(now);
    assertThat(typesIn(folder.resolve("c"))).isEmpty();
  }

  @Test
  void anotherWorkerSendsTheTerminalEventOfAConnectorThatIsGone() throws Exception {
    final LineageAgent killed = worker("a", folder.resolve("away").resolve("events"));
    set("RUNNING", "RUNNING");
    killed.poll(now);
    cluster.snapshots.clear();
    killed.poll(now + 1000);
    killed.poll(now + 2000);
    now += 3000;
    final Path file = folder.resolve("b");
    use("b", file);
    poll(TAKE_OVER_POLLS);
    await(() -> typesIn(file).equals(List.of("ABORT")));
  }

  @Test
  void terminalEventIsStoredBeforeTheEndOfTheRun() throws Exception {
    use("a", folder.resolve("a"));
    set("RUNNING", "FAILED");
    poll(1);
    final List<String> keys = topic.entries().stream().map(SharedTopic.Entry::key).toList();
    assertThat(keys.get(0)).startsWith("[\"terminal\"");
    assertThat(keys).anyMatch(key -> key.startsWith("[\"run\""));
  }

  /** The worker is killed after it has stored the terminal event and before that of the run. */
  @Test
  void runWithAStoredTerminalEventHasEnded() throws Exception {
    use("a", folder.resolve("a"));
    set("RUNNING", "RUNNING");
    poll(1);
    set("RUNNING", "FAILED");
    poll(1);
    final SharedTopic copy = new SharedTopic();
    topic.entries().stream()
        .filter(entry -> entry.value() != null)
        .filter(entry -> !entry.key().startsWith("[\"run\"") || !entry.value().contains("FAILED"))
        .forEach(entry -> copy.add("a", entry.key(), entry.value()));
    assertThat(copy.open("cluster", "b").openRuns()).isEmpty();
  }
}
