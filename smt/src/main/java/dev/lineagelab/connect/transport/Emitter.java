// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

import dev.lineagelab.connect.events.QueueState;
import dev.lineagelab.connect.settings.QueueSettings;
import dev.lineagelab.connect.transport.EventQueue.QueuedEvent;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Sends queued events in order from a dedicated thread. {@link #emit} never blocks or throws. */
public final class Emitter implements EmitterMXBean, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Emitter.class);

  private final Transport transport;
  private final QueueSettings settings;
  private final String target;
  private final EventQueue queue;
  private final EmitterMetrics metrics = new EmitterMetrics();
  private final Thread thread;
  private final AutoCloseable registration;
  private boolean isFailing;

  /**
   * Start the sender thread.
   *
   * @param target destination as shown in logs and JMX
   */
  public Emitter(final Transport transport, final QueueSettings settings, final String target) {
    this.transport = transport;
    this.settings = settings;
    this.target = target;
    this.queue = new EventQueue(settings.capacity());
    this.registration = EmitterMBeans.register(this, target);
    this.thread = new Thread(this::run, "connect-lineage-emitter");
    this.thread.setDaemon(true);
    this.thread.start();
  }

  /** Add an event to the queue. */
  public void emit(final OutgoingEvent event) {
    final int dropped = queue.add(event, System.nanoTime());
    if (dropped > 0) {
      drop(dropped, queue.isClosed() ? "the worker stops" : "the queue is full");
    }
  }

  private void run() {
    try {
      int failures = 0;
      for (List<QueuedEvent> batch = queue.await(settings.batchSize());
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

  private boolean attempt(final List<QueuedEvent> batch) throws InterruptedException {
    final long started = System.nanoTime();
    try {
      final SendResult result = transport.send(batch.stream().map(QueuedEvent::event).toList());
      final List<QueuedEvent> settled = batch.subList(0, result.settled());
      queue.remove(settled);
      metrics.sent(result.accepted(), System.nanoTime() - started);
      result.rejected().forEach(reason -> drop(1, reason));
      settled.stream()
          .map(QueuedEvent::event)
          .filter(event -> !event.isDroppable())
          .forEach(event -> event.settled().run());
      recovered();
      return true;
    } catch (final TransportException | RuntimeException e) {
      failed(e);
      return false;
    }
  }

  /**
   * Drop events older than the retry timeout, unless they must not be dropped; when the worker
   * stops, all that were tried before.
   */
  private void expire(final List<QueuedEvent> batch, final int failures) {
    final long now = System.nanoTime();
    final List<QueuedEvent> expired =
        batch.stream()
            .filter(
                queued ->
                    queue.isClosed() && failures > 1
                        || queued.event().isDroppable()
                            && now - queued.since() > settings.retryTimeout().toNanos())
            .toList();
    if (!expired.isEmpty()) {
      queue.remove(expired);
      drop(expired.size(), metrics.lastError());
    }
  }

  private void failed(final Exception failure) {
    metrics.retried(String.valueOf(failure.getMessage()));
    if (!isFailing) {
      isFailing = true;
      LOG.warn(
          "Cannot send lineage events to {}; retrying, with up to {} queued. Records are not"
              + " affected: {}",
          target,
          settings.capacity(),
          failure.getMessage());
    }
  }

  private void recovered() {
    if (isFailing) {
      isFailing = false;
      LOG.info("Sending lineage events to {} again; {} dropped so far", target, metrics.dropped());
    }
  }

  private void drop(final int events, final String reason) {
    if (events > 0 && metrics.dropped(events, reason)) {
      LOG.warn(
          "Lineage events for {} are dropped: {}. Further drops are not logged; JMX domain {} has"
              + " their count",
          target,
          reason,
          EmitterMBeans.DOMAIN);
    }
  }

  /** State of the queue. */
  public QueueState queueState() {
    return new QueueState(queue.size(), metrics.dropped());
  }

  /** Send queued events within the shutdown timeout and stop the thread. */
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
      LOG.debug("Cannot unregister the MBean of {}", target, e);
    }
  }

  @Override
  public long getSent() {
    return metrics.sent();
  }

  @Override
  public long getDropped() {
    return metrics.dropped();
  }

  @Override
  public int getQueued() {
    return queue.size();
  }

  @Override
  public long getRetries() {
    return metrics.retries();
  }

  @Override
  public double getLastLatencyMs() {
    return metrics.lastLatencyMs();
  }

  @Override
  public double getMaxLatencyMs() {
    return metrics.maxLatencyMs();
  }

  @Override
  public String getTarget() {
    return target;
  }

  @Override
  public String getLastError() {
    return metrics.lastError();
  }
}
