// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.settings.QueueSettings;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class EmitterTest {
  private static final QueueSettings LONG_RETRY = settings(1000, 60_000, 2000);

  private static QueueSettings settings(
      final int capacity, final long retryMs, final long shutdownMs) {
    return new QueueSettings(
        capacity,
        10,
        Duration.ofMillis(1),
        Duration.ofMillis(4),
        Duration.ofMillis(retryMs),
        Duration.ofMillis(shutdownMs));
  }

  /** Transport with a given number of failures and semaphores for the test to wait on. */
  private static final class FlakyTransport implements Transport {
    private final List<String> arrived = new ArrayList<>();
    private final Semaphore attempts = new Semaphore(0);
    private final Semaphore settled = new Semaphore(0);
    private final CountDownLatch gate = new CountDownLatch(1);
    private int failures;
    private boolean isStuck;

    @Override
    public SendResult send(final List<OutgoingEvent> events)
        throws TransportException, InterruptedException {
      attempts.release();
      if (isStuck) {
        gate.await();
      }
      synchronized (this) {
        if (failures > 0) {
          failures--;
          throw new TransportException("down");
        }
        final List<String> rejected = new ArrayList<>();
        for (final OutgoingEvent event : events) {
          if (event.json().startsWith("bad")) {
            rejected.add("rejected");
          } else {
            arrived.add(event.json());
            settled.release();
          }
        }
        return new SendResult(events.size() - rejected.size(), rejected);
      }
    }

    synchronized List<String> arrived() {
      return List.copyOf(arrived);
    }

    @Override
    public void close() {
      // There is nothing to close.
    }
  }

  private static void emit(final Emitter emitter, final int events) {
    for (int number = 0; number < events; number++) {
      emitter.emit(new OutgoingEvent("job", Integer.toString(number)));
    }
  }

  private static List<String> numbers(final int end) {
    return IntStream.range(0, end).mapToObj(Integer::toString).toList();
  }

  @Test
  void sendsAllInOrderDespiteFailures() throws InterruptedException {
    final FlakyTransport transport = new FlakyTransport();
    transport.failures = 5;
    final Emitter emitter = new Emitter(transport, LONG_RETRY, "test");
    emit(emitter, 100);
    transport.settled.acquire(100);
    emitter.close();
    assertThat(transport.arrived()).containsExactlyElementsOf(numbers(100));
    assertThat(emitter.getRetries()).isEqualTo(5);
    assertThat(emitter.getSent()).isEqualTo(100);
    assertThat(emitter.getDropped()).isZero();
  }

  @Test
  void emitDoesNotBlockOnAHangingTransport() throws InterruptedException {
    final FlakyTransport transport = new FlakyTransport();
    transport.isStuck = true;
    final Emitter emitter = new Emitter(transport, settings(10, 60_000, 0), "test");
    emit(emitter, 1);
    transport.attempts.acquire();
    emit(emitter, 1000);
    assertThat(emitter.getQueued()).isEqualTo(10);
    assertThat(emitter.getDropped()).isEqualTo(991);
    emitter.close();
    assertThat(emitter.getDropped()).isEqualTo(1001);
  }

  @Test
  void fullQueueKeepsTheNewestEvents() throws InterruptedException {
    final FlakyTransport transport = new FlakyTransport();
    transport.isStuck = true;
    final Emitter emitter = new Emitter(transport, settings(10, 60_000, 5000), "test");
    emit(emitter, 1);
    transport.attempts.acquire();
    emit(emitter, 100);
    transport.gate.countDown();
    emitter.close();
    assertThat(transport.arrived())
        .containsExactly("0", "90", "91", "92", "93", "94", "95", "96", "97", "98", "99");
  }

  @Test
  void fullQueueKeepsEventsThatMustNotBeDropped() throws InterruptedException {
    final FlakyTransport transport = new FlakyTransport();
    transport.isStuck = true;
    final Emitter emitter = new Emitter(transport, settings(10, 60_000, 5000), "test");
    final AtomicInteger settled = new AtomicInteger();
    emit(emitter, 1);
    transport.attempts.acquire();
    for (int number = 0; number < 15; number++) {
      emitter.emit(new OutgoingEvent("job", "end " + number, settled::incrementAndGet));
    }
    emit(emitter, 100);
    transport.gate.countDown();
    emitter.close();
    assertThat(transport.arrived()).filteredOn(event -> event.startsWith("end")).hasSize(15);
    assertThat(settled).hasValue(15);
    assertThat(emitter.getDropped()).isPositive();
  }

  @Test
  void retryTimeoutKeepsEventsThatMustNotBeDropped() throws InterruptedException {
    final FlakyTransport transport = new FlakyTransport();
    transport.failures = 20;
    final Emitter emitter = new Emitter(transport, settings(1000, 0, 2000), "test");
    emitter.emit(new OutgoingEvent("job", "end", () -> {}));
    emit(emitter, 1);
    transport.settled.acquire();
    emitter.close();
    assertThat(transport.arrived()).contains("end");
  }

  @Test
  void rejectedEventsAreSettled() {
    final AtomicInteger settled = new AtomicInteger();
    final Emitter emitter = new Emitter(new FlakyTransport(), LONG_RETRY, "test");
    emitter.emit(new OutgoingEvent("job", "bad", settled::incrementAndGet));
    emitter.close();
    assertThat(settled).hasValue(1);
  }

  @Test
  void closeSendsQueuedEvents() {
    final FlakyTransport transport = new FlakyTransport();
    final Emitter emitter = new Emitter(transport, LONG_RETRY, "test");
    emit(emitter, 50);
    emitter.close();
    assertThat(transport.arrived()).containsExactlyElementsOf(numbers(50));
  }

  @Test
  void closeDropsEventsThatFailTwice() {
    final FlakyTransport transport = new FlakyTransport();
    transport.failures = Integer.MAX_VALUE;
    final Emitter emitter = new Emitter(transport, settings(1000, 60_000, 100_000), "test");
    emit(emitter, 20);
    emitter.close();
    assertThat(emitter.getDropped()).isEqualTo(20);
    assertThat(emitter.getLastError()).isEqualTo("down");
  }

  @Test
  void dropsEventsAfterTheRetryTimeout() throws InterruptedException {
    final FlakyTransport transport = new FlakyTransport();
    transport.failures = 1;
    final Emitter emitter = new Emitter(transport, settings(1000, 0, 2000), "test");
    emit(emitter, 1);
    transport.attempts.acquire();
    emitter.emit(new OutgoingEvent("job", "younger"));
    transport.settled.acquire();
    emitter.close();
    assertThat(transport.arrived()).containsExactly("younger");
    assertThat(emitter.getDropped()).isEqualTo(1);
  }

  @Test
  void countsRejectedEventsAndSendsTheRest() {
    final FlakyTransport transport = new FlakyTransport();
    final Emitter emitter = new Emitter(transport, LONG_RETRY, "test");
    emitter.emit(new OutgoingEvent("job", "bad"));
    emitter.emit(new OutgoingEvent("job", "good"));
    emitter.close();
    assertThat(transport.arrived()).containsExactly("good");
    assertThat(emitter.getDropped()).isEqualTo(1);
  }

  @Test
  void dropsEventsAfterClose() {
    final Emitter emitter = new Emitter(new FlakyTransport(), LONG_RETRY, "test");
    emitter.close();
    emit(emitter, 3);
    assertThat(emitter.getDropped()).isEqualTo(3);
  }

  @Test
  void registersTwoEmittersWithOneTargetInJmx() throws Exception {
    final ObjectName all = new ObjectName("dev.lineagelab.connect:type=Emitter,*");
    final var server = ManagementFactory.getPlatformMBeanServer();
    final int before = server.queryNames(all, null).size();
    final Emitter first = new Emitter(new FlakyTransport(), LONG_RETRY, "POST http://a:1/b?c=*");
    final Emitter second = new Emitter(new FlakyTransport(), LONG_RETRY, "POST http://a:1/b?c=*");
    assertThat(server.queryNames(all, null)).hasSize(before + 2);
    assertThat(
            server.getAttribute(
                new ObjectName(
                    "dev.lineagelab.connect:type=Emitter,target="
                        + ObjectName.quote(first.getTarget())),
                "Sent"))
        .isEqualTo(0L);
    first.close();
    second.close();
    assertThat(server.queryNames(all, null)).hasSize(before);
  }

  @Test
  void appendsToAFile(@TempDir final Path folder) throws Exception {
    final Path file = folder.resolve("events.jsonl");
    try (Emitter emitter = new Emitter(new FileTransport(file), LONG_RETRY, "file")) {
      emit(emitter, 2);
    }
    assertThat(Files.readAllLines(file)).containsExactly("0", "1");
  }

  @Test
  void backoffGrowsUpToItsLimit() {
    final QueueSettings settings =
        new QueueSettings(
            1, 1, Duration.ofMillis(100), Duration.ofMillis(1000), Duration.ZERO, Duration.ZERO);
    assertThat(Backoff.delayMs(settings, 1, 1)).isEqualTo(100);
    assertThat(Backoff.delayMs(settings, 3, 1)).isEqualTo(400);
    assertThat(Backoff.delayMs(settings, 3, 0)).isEqualTo(200);
    assertThat(Backoff.delayMs(settings, 1_000_000, 1)).isEqualTo(1000);
  }
}
