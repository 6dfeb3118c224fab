// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.openlineage.spool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.openlineage.client.OpenLineage.RunEvent.EventType;
import io.openlineage.client.OpenLineageClientUtils;
import io.openlineage.client.transports.Transport;
import io.openlineage.client.transports.TransportFactory;
import io.openlineage.flink.facets.FlinkJobDetailsFacet;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A real receiver, which is down, up or answers with errors; real processes, which are killed. */
class SpoolTransportTest {
  private static final Pattern JOB = Pattern.compile("\"name\":\"(job[^\"]*)\"");

  @TempDir Path directory;
  private final Receiver receiver = new Receiver();
  private final List<Transport> transports = new ArrayList<>();
  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void end() throws Exception {
    for (Transport transport : transports) {
      transport.close();
    }
    for (Process process : processes) {
      process.destroyForcibly().waitFor();
    }
    receiver.close();
  }

  @Test
  void eventsArriveInOrderAndAsWithoutSpool() throws Exception {
    receiver.start();
    var facets = Events.OPEN_LINEAGE.newRunFacetsBuilder();
    facets.put("flink_job", new FlinkJobDetailsFacet("a1"));
    var event = Events.event(EventType.START, "job1", facets.build());
    Transport direct = new TransportFactory(Transports.http(receiver.url())).build();
    direct.emit(event);
    direct.close();

    Transport transport = open();
    transport.emit(event);
    transport.emit(Events.event(EventType.COMPLETE, "job2"), Duration.ofSeconds(1));

    awaitAccepted("job1", "job1", "job2");
    assertThat(receiver.accepted().get(1)).isEqualTo(receiver.accepted().get(0));
    await(() -> files().isEmpty());
  }

  @Test
  void receiverThatIsDownDelaysNothingAndGetsAllEventsLater() throws Exception {
    Transport transport = open();
    String[] jobs = IntStream.range(0, 50).mapToObj(i -> "job" + i).toArray(String[]::new);
    for (String job : jobs) {
      transport.emit(Events.event(EventType.COMPLETE, job));
    }
    assertThat(files()).hasSizeGreaterThanOrEqualTo(50);

    receiver.start();

    awaitAccepted(jobs);
    await(() -> files().isEmpty());
  }

  @Test
  void eventsOfClosedTransportAreSentByNextOne() throws Exception {
    leaveUnsent("job1");
    receiver.start();

    open().emit(Events.event(EventType.COMPLETE, "job2"));

    awaitAccepted("job1", "job2");
    await(() -> files().isEmpty());
  }

  @Test
  void transportsOfOneProcessDoNotTakeTheSameEvents() throws Exception {
    leaveUnsent("job1");

    Transport second = open();
    Transport third = open();
    third.emit(Events.event(EventType.COMPLETE, "job2"));
    receiver.start();

    await(() -> receiver.accepted().size() >= 2);
    await(() -> files().isEmpty());
    second.close();
    assertThat(jobs(receiver)).containsExactlyInAnyOrder("job1", "job2");
  }

  @Test
  void eventsOfKilledProcessAreSentByNextOneAndThoseOfRunningProcessAreNot() throws Exception {
    Process killed = process("wait", "job1", "job2");
    process("wait", "job3");
    killed.destroyForcibly().waitFor();
    Receiver other = new Receiver();
    other.start();

    Transport transport = Transports.spool(directory, other.url());
    transports.add(transport);

    await(() -> other.accepted().size() >= 2);
    transport.close();
    other.close();
    assertThat(jobs(other)).containsExactly("job1", "job2");
    receiver.start(); // for which the running one waits
    awaitAccepted("job3");
  }

  @Test
  void endOfProcessWaitsForDelivery() throws Exception {
    receiver.start();

    Process process = process("deliver", "job1", "job2");

    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(jobs(receiver)).containsExactly("job1", "job2");
    assertThat(files()).isEmpty();
  }

  @Test
  void endOfProcessDoesNotWaitLongForReceiverThatIsDown() throws Exception {
    Process process = process("end", "job1");
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    receiver.start();

    open();

    awaitAccepted("job1");
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 404, 413, 422})
  void eventThatIsRejectedDoesNotStopOthers(int status) throws Exception {
    receiver.answer(body -> body.contains("job1") ? status : 201);
    receiver.start();
    Transport transport = open();

    transport.emit(Events.event(EventType.COMPLETE, "job1"));
    transport.emit(Events.event(EventType.COMPLETE, "job2"));

    awaitAccepted("job2");
    await(() -> files().isEmpty());
  }

  @ParameterizedTest
  @ValueSource(ints = {408, 429, 500, 503})
  void eventThatIsRefusedGoesToTheEndAndIsSentAgain(int status) throws Exception {
    receiver.answer(body -> body.contains("job1") ? status : 201);
    receiver.start();
    Transport transport = open();

    transport.emit(Events.event(EventType.COMPLETE, "job1"));
    transport.emit(Events.event(EventType.COMPLETE, "job2"));

    awaitAccepted("job2");
    assertThat(files()).isNotEmpty();
    receiver.answer(body -> 201);
    awaitAccepted("job2", "job1");
  }

  @Test
  void heartbeatsAreDroppedFirst() throws Exception {
    SpoolConfig config = Transports.config(directory, receiver.url());
    config.setMaxBytes(
        3L * OpenLineageClientUtils.toJson(Events.event(EventType.COMPLETE, "job1")).length());
    Transport transport = open(config);

    transport.emit(Events.event(EventType.START, "job1"));
    transport.emit(Events.event(EventType.RUNNING, "job2"));
    transport.emit(Events.event(EventType.COMPLETE, "job3"));
    transport.emit(Events.event(EventType.COMPLETE, "job4"));
    transport.emit(Events.event(EventType.COMPLETE, "job5"));
    receiver.start();

    awaitAccepted("job3", "job4", "job5");
  }

  @Test
  void eventThatCannotBeStoredIsSentAtOnce() throws Exception {
    receiver.start();
    Transport transport = open();
    Files.delete(directory);
    Files.writeString(directory, "a file, in which no folder can be");

    transport.emit(Events.event(EventType.COMPLETE, "job1"));

    assertThat(jobs(receiver)).containsExactly("job1");
    Files.delete(directory);
  }

  @Test
  void eventThatKilledProcessHadWrittenIsSentUnlessItIsIncomplete() throws Exception {
    leaveUnsent("job1", "job2", "job3");
    List<Path> events = events();
    for (Path event : events.subList(1, 3)) { // as if it had been killed before it renamed them
      Files.move(event, event.resolveSibling(event.getFileName() + ".new"));
    }
    Path incomplete = events.get(2).resolveSibling(events.get(2).getFileName() + ".new");
    Files.writeString(incomplete, Files.readString(incomplete).replaceFirst("}$", ""));
    receiver.start();

    open().emit(Events.event(EventType.COMPLETE, "job4"));

    awaitAccepted("job1", "job2", "job4");
    await(() -> files().isEmpty());
  }

  @Test
  void eventThatCannotBeReadIsSetAside() throws Exception {
    leaveUnsent("job1", "job2");
    Path damaged = events().get(0);
    Files.writeString(damaged, "{\"eventType\":");
    receiver.start();

    open();

    awaitAccepted("job2");
    await(() -> files().size() == 1);
    assertThat(files().get(0))
        .hasParent(directory.resolve("damaged"))
        .hasContent("{\"eventType\":");
  }

  @Test
  void idleTransportHasNoThreadAndNoFile() throws Exception {
    receiver.start();
    Transport transport = open();

    transport.emit(Events.event(EventType.COMPLETE, "job1"));
    awaitAccepted("job1");

    await(() -> files().isEmpty());
    await(
        () ->
            Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("lineage spool")));
    transport.emit(Events.event(EventType.COMPLETE, "job2"));
    awaitAccepted("job1", "job2");
  }

  @Test
  void missingPropertyIsNamed() {
    SpoolConfig withoutFolder = Transports.config(directory, receiver.url());
    withoutFolder.setDirectory(" ");
    SpoolConfig withoutTransport = Transports.config(directory, receiver.url());
    withoutTransport.setTransport(null);
    SpoolConfig withoutSpace = Transports.config(directory, receiver.url());
    withoutSpace.setMaxBytes(0L);
    SpoolConfig backwards = Transports.config(directory, receiver.url());
    backwards.setCloseTimeoutInMillis(-1L);

    assertThatThrownBy(() -> open(withoutFolder)).hasMessageContaining("transport.directory");
    assertThatThrownBy(() -> open(withoutTransport))
        .hasMessageContaining("transport.transport.type");
    assertThatThrownBy(() -> open(withoutSpace)).hasMessageContaining("transport.maxBytes is 0");
    assertThatThrownBy(() -> open(backwards)).hasMessageContaining("closeTimeoutInMillis");
  }

  @Test
  void folderThatCannotBeWrittenIsNamed() throws IOException {
    Path file = Files.writeString(directory.resolve("file"), "");

    assertThatThrownBy(() -> open(Transports.config(file.resolve("spool"), receiver.url())))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(file.resolve("spool").toString())
        .hasMessageContaining("transport.directory");
  }

  private Transport open() {
    return open(Transports.config(directory, receiver.url()));
  }

  private Transport open(SpoolConfig config) {
    Transport transport = new TransportFactory(config).build();
    transports.add(transport);
    return transport;
  }

  /** Leaves events of a transport that is closed while the receiver is down. */
  private void leaveUnsent(String... jobs) throws Exception {
    Transport transport = Transports.spool(directory, receiver.url());
    for (String job : jobs) {
      transport.emit(Events.event(EventType.COMPLETE, job));
    }
    transport.close();
    assertThat(files()).isNotEmpty();
  }

  private Process process(String then, String... jobs) throws Exception {
    Process process = SpoolingProcess.start(directory, receiver.url(), then, jobs);
    processes.add(process);
    return process;
  }

  private void awaitAccepted(String... jobs) throws InterruptedException {
    await(() -> receiver.accepted().size() >= jobs.length);
    assertThat(jobs(receiver)).containsExactly(jobs);
  }

  private static List<String> jobs(Receiver receiver) {
    return receiver.accepted().stream()
        .map(JOB::matcher)
        .filter(Matcher::find)
        .map(found -> found.group(1))
        .toList();
  }

  private List<Path> events() {
    return files().stream().filter(file -> file.toString().endsWith(".json")).toList();
  }

  private List<Path> files() {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(Files::isRegularFile).sorted().toList();
    } catch (IOException | UncheckedIOException vanished) {
      return List.of(directory); // not yet
    }
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("not within 60 s");
      }
      Thread.sleep(20);
    }
  }
}
