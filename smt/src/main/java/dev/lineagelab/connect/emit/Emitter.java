// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.emit;

import dev.lineagelab.connect.emit.EventQueue.Waiting;
import dev.lineagelab.connect.settings.QueueSettings;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends events from a thread of its own, in order. {@link #emit} never waits and never throws. */
public final class Emitter implements EmitterMXBean, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Emitter.class);

  private final Transport transport;
  private final QueueSettings settings;
  private final String target;
  private final EventQueue queue;
  private final EmitterCounts counts = new EmitterCounts();
  private final Thread thread;
  private final AutoCloseable registration;
  private boolean isFailing;

  /**
   * Starts the thread.
   *
   * @param target where events go, for people
   */
  public Emitter(final Transport transport, final QueueSettings settings, final String target) {
    this.transport = transport;
    this.settings = settings;
    this.target = target;
    this.queue = new EventQueue(settings.capacity());
    this.registration = Jmx.register(this, target);
    this.thread = new Thread(this::run, "connect-lineage-emitter");
    this.thread.setDaemon(true);
    this.thread.start();
  }

  /** Hands an event over. */
  public void emit(final OutgoingEvent event) {
    final int lost = queue.add(event, System.nanoTime());
    if (lost > 0) {
      drop(lost, queue.isClosed() ? "the worker stops" : "the queue is full");
    }
  }

  private void run() {
    try {
      int failures = 0;
      for (List<Waiting> batch = queue.await(settings.batchSize());
          !batch.isEmpty();
          batch = queue.await(settings.batchSize())) {
        failures = attempt(batch) ? 0 : failures + 1;
        if (failures > 0) {
          queue.pause(
              Backoff.delayMs(settings, failures, ThreadLocalRandom.current().nextDouble()));
          expire(batch, failures);
        }
      }
    } catch (final InterruptedException e) {
      drop(queue.size(), "the worker stops");
    } finally {
      transport.close();
    }
  }

  private boolean attempt(final List<Waiting> batch) throws InterruptedException {
    final long started = System.nanoTime();
    try {
      final Transport.Sent sent = transport.send(batch.stream().map(Waiting::event).toList());
      queue.remove(batch.subList(0, sent.settled()));
      counts.sent(sent.accepted(), System.nanoTime() - started);
      sent.refused().forEach(why -> drop(1, why));
      recovered();
      return true;
    } catch (final TransportException | RuntimeException e) {
      failed(e);
      return false;
    }
  }

  /** Gives up what was tried for too long; when the worker stops, what was tried once. */
  private void expire(final List<Waiting> batch, final int failures) {
    final long now = System.nanoTime();
    final List<Waiting> expired =
        batch.stream()
            .filter(
                waiting ->
                    queue.isClosed() && failures > 1
                        || now - waiting.since() > settings.retryTimeout().toNanos())
            .toList();
    if (!expired.isEmpty()) {
      queue.remove(expired);
      drop(expired.size(), counts.lastError());
    }
  }

  private void failed(final Exception failure) {
    counts.retried(String.valueOf(failure.getMessage()));
    if (!isFailing) {
      isFailing = true;
      LOG.warn(
          "Lineage events wait ({} may) and are tried again; records are not affected. {}",
          settings.capacity(),
          failure.getMessage());
    }
  }

  private void recovered() {
    if (isFailing) {
      isFailing = false;
      LOG.info("Lineage events arrive again: {}; {} were dropped so far", target, counts.dropped());
    }
  }

  private void drop(final int events, final String why) {
    if (events > 0 && counts.dropped(events, why)) {
      LOG.warn(
          "Lineage events are dropped, from now on without a word ({} in JMX counts them): {}",
          Jmx.DOMAIN,
          why);
    }
  }

  /** Lets what waits out for as long as the settings allow, and ends the thread. */
  @Override
  public void close() {
    queue.close();
    try {
      thread.join(Math.max(1, settings.shutdownTimeout().toMillis()));
      thread.interrupt();
      thread.join(TimeUnit.MILLISECONDS.toMillis(200));
      registration.close();
    } catch (final InterruptedException e) {
      thread.interrupt();
      Thread.currentThread().interrupt();
    } catch (final Exception e) {
      LOG.debug("The JMX entry of {} could not be removed", target, e);
    }
  }

  @Override
  public long getSent() {
    return counts.sent();
  }

  @Override
  public long getDropped() {
    return counts.dropped();
  }

  @Override
  public int getQueued() {
    return queue.size();
  }

  @Override
  public long getRetries() {
    return counts.retries();
  }

  @Override
  public double getLastLatencyMs() {
    return counts.lastLatencyMs();
  }

  @Override
  public double getMaxLatencyMs() {
    return counts.maxLatencyMs();
  }

  @Override
  public String getTarget() {
    return target;
  }

  @Override
  public String getLastError() {
    return counts.lastError();
  }
}
