// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.openlineage.spool;

import io.openlineage.client.OpenLineage.RunEvent;
import io.openlineage.client.OpenLineageClientUtils;
import io.openlineage.client.transports.Transport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delivers stored events in their order, and retries with growing pauses. An event that the
 * receiver refuses several times goes to the end, so that it does not block the others.
 *
 * <p>Its thread and its folder exist only while events wait: an agent may create a transport per
 * job, and never close it.
 */
final class Delivery {
  private static final long FIRST_PAUSE_MILLIS = 250;
  private static final long MAX_PAUSE_MILLIS = 10_000;
  private static final int ATTEMPTS_IN_ORDER = 3;

  private static final Logger log = LoggerFactory.getLogger(Delivery.class);

  private final Transport transport;
  private final Path directory;
  private final Duration closeTimeout;
  private final EventQueue queue;
  private final Thread shutdown = new Thread(this::drain, "lineage spool shutdown");

  /** Folders of other processes whose events wait here, and that of this transport. */
  private final List<SpoolFolder> folders = new ArrayList<>();

  private SpoolFolder own;
  private Thread thread;
  private boolean isClosing;
  private boolean isClosed;
  private boolean isShuttingDown;

  /**
   * @param transport delivers; only one thread calls it
   * @param directory for the events that wait
   * @param maxBytes size limit of waiting events
   * @param closeTimeout how long {@link #close} waits
   */
  Delivery(Transport transport, Path directory, long maxBytes, Duration closeTimeout) {
    this.transport = transport;
    this.directory = directory;
    this.queue = new EventQueue(maxBytes);
    this.closeTimeout = closeTimeout;
  }

  /** Takes over the events of transports that have ended. */
  synchronized void adopt() {
    try {
      folders.addAll(SpoolFolder.ofEnded(directory));
      for (SpoolFolder folder : folders) {
        folder.completeEvents();
        folder.events().forEach(this::enqueue);
      }
    } catch (IOException error) {
      log.warn("Cannot read all lineage events that wait in {}: {}", directory, error.toString());
    }
    if (!folders.isEmpty()) {
      start();
    }
  }

  /** Stores an event and returns; where that fails, delivers it at once. */
  void add(RunEvent event) {
    if (!store(event)) {
      transport.emit(event);
    }
  }

  private synchronized boolean store(RunEvent event) {
    if (isClosed) {
      return false;
    }
    try {
      if (own == null) {
        own = SpoolFolder.create(directory);
        folders.add(own);
      }
      String type = String.valueOf(event.getEventType());
      enqueue(own.store(type, OpenLineageClientUtils.toJson(event)));
    } catch (IOException error) {
      log.error(
          "Cannot keep a lineage event in {}, it is sent at once: {}", directory, error.toString());
      return false;
    }
    start();
    notifyAll();
    if (isShuttingDown) {
      waitUntil(deadline(), Until.IDLE);
    }
    return true;
  }

  private void enqueue(StoredEvent event) {
    for (StoredEvent dropped : queue.add(event)) {
      log.error("Lineage event {} is dropped: too many bytes wait in {}", dropped, directory);
      delete(dropped);
    }
  }

  private void start() {
    if (thread != null) {
      return;
    }
    thread = new Thread(this::run, "lineage spool");
    thread.setDaemon(true);
    thread.setContextClassLoader(Delivery.class.getClassLoader());
    try {
      Runtime.getRuntime().addShutdownHook(shutdown);
    } catch (IllegalStateException error) {
      isShuttingDown = true; // Spark ends its application while the process ends.
    }
    thread.start();
  }

  private void run() {
    long pause = FIRST_PAUSE_MILLIS;
    int refusals = 0;
    StoredEvent refused = null;
    for (StoredEvent event = next(); event != null; event = next()) {
      Outcome outcome = attempt(event, pause == FIRST_PAUSE_MILLIS);
      if (outcome == Outcome.DELIVERED || outcome == Outcome.REJECTED) {
        finish(event);
        if (pause > FIRST_PAUSE_MILLIS) {
          log.info("Lineage events are accepted again");
        }
        pause = FIRST_PAUSE_MILLIS;
        refusals = 0;
        continue;
      }
      if (outcome == Outcome.REFUSED) {
        refusals = event.equals(refused) ? refusals + 1 : 1;
        refused = event;
      }
      pauseFor(pause);
      pause = Math.min(2 * pause, MAX_PAUSE_MILLIS);
      if (refusals >= ATTEMPTS_IN_ORDER) {
        refusals = 0;
        moveToEnd(event);
      }
    }
  }

  /** Returns the event to deliver; null, and everything is released, if there is none. */
  private synchronized StoredEvent next() {
    if (!queue.isEmpty() && !isClosed) {
      return queue.first();
    }
    release();
    thread = null;
    try {
      Runtime.getRuntime().removeShutdownHook(shutdown);
    } catch (IllegalStateException error) {
      isShuttingDown = true;
    }
    notifyAll();
    return null;
  }

  private void release() {
    for (SpoolFolder folder : folders) {
      try {
        if (queue.isEmpty()) {
          folder.remove();
        } else {
          folder.leave();
        }
      } catch (IOException error) {
        log.warn("Cannot release a folder in {}: {}", directory, error.toString());
      }
    }
    folders.clear();
    own = null;
  }

  private Outcome attempt(StoredEvent stored, boolean isFirst) {
    RunEvent event;
    try {
      event = OpenLineageClientUtils.runEventFromJson(Files.readString(stored.file()));
    } catch (IOException | UncheckedIOException error) {
      setAside(stored, error);
      return Outcome.REJECTED;
    }
    try {
      transport.emit(event);
      return Outcome.DELIVERED;
    } catch (RuntimeException error) {
      Outcome outcome = Outcome.of(error);
      if (outcome == Outcome.REJECTED) {
        log.error("Lineage event {} is rejected, and lost: {}", label(event), error.toString());
      } else if (isFirst) {
        log.warn(
            "Lineage event {} is not accepted; it is kept in {} and sent again: {}",
            label(event),
            directory,
            error.toString());
      }
      return outcome;
    }
  }

  private static String label(RunEvent event) {
    return event.getEventType()
        + " of run "
        + event.getRun().getRunId()
        + " of "
        + event.getJob().getName();
  }

  private static void setAside(StoredEvent stored, Exception error) {
    try {
      log.error(
          "Lineage event {} cannot be read: {}; it is in {}",
          stored,
          error.toString(),
          SpoolFolder.setAside(stored));
    } catch (IOException second) {
      log.error("Lineage event {} cannot be read: {}", stored, second.toString());
    }
  }

  private synchronized void finish(StoredEvent event) {
    if (queue.remove(event)) {
      delete(event);
    }
    notifyAll();
  }

  private static void delete(StoredEvent event) {
    try {
      Files.deleteIfExists(event.file());
    } catch (IOException error) {
      log.warn("Cannot delete {}, which will be sent twice: {}", event, error.toString());
    }
  }

  private synchronized void moveToEnd(StoredEvent event) {
    queue.moveToEnd(event);
  }

  private synchronized void pauseFor(long millis) {
    waitUntil(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis), Until.CLOSING);
    if (isClosing && !isClosed) {
      waitUntil(
          System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(FIRST_PAUSE_MILLIS), Until.CLOSED);
    }
  }

  private enum Until {
    CLOSING,
    CLOSED,
    IDLE
  }

  private boolean has(Until state) {
    return switch (state) {
      case CLOSING -> isClosing;
      case CLOSED -> isClosed;
      case IDLE -> thread == null;
    };
  }

  /** Waits, with the lock, until a state or a time of {@link System#nanoTime}. */
  private void waitUntil(long deadline, Until state) {
    for (long left = deadline - System.nanoTime();
        left > 0 && !has(state);
        left = deadline - System.nanoTime()) {
      try {
        wait(Math.max(1, TimeUnit.NANOSECONDS.toMillis(left)));
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  /** Waits for the delivery, up to the timeout. */
  private synchronized void drain() {
    isClosing = true;
    notifyAll();
    waitUntil(deadline(), Until.IDLE);
    if (thread != null) {
      log.warn("{} lineage events stay in {} for the next start", queue.size(), directory);
    }
  }

  /** Waits for the delivery, up to the timeout. What is left stays for the next transport. */
  synchronized void close() {
    drain();
    isClosed = true;
    notifyAll();
    // An attempt ends by the timeout of the transport; if that is longer, the folder stays locked.
    waitUntil(deadline(), Until.IDLE);
  }

  private long deadline() {
    return System.nanoTime() + closeTimeout.toNanos();
  }
}
