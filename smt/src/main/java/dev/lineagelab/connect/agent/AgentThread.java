// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.model.LineageExtractor;
import dev.lineagelab.connect.observe.Cluster;
import dev.lineagelab.connect.observe.CountBook;
import dev.lineagelab.connect.observe.Observations;
import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.state.SharedState;
import java.time.Duration;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs a {@link LineageAgent}. Whatever goes wrong in it is logged, once, and ends nothing. */
final class AgentThread {
  private static final Logger LOG = LoggerFactory.getLogger(AgentThread.class);

  private static final long RETRY_MS = 3000;

  /** For what follows the last event: the queue's thread ends, the state is written. */
  private static final Duration CLOSE_MARGIN = Duration.ofMillis(450);

  private final Duration delay;
  private final PluginSettings pace;
  private final Observations observations;
  private final CountBook counts;
  private final Supplier<Cluster> cluster;
  private final ConnectorSettings settings;
  private final LineageExtractor describer;
  private final String id;
  private final Thread thread;
  private LineageAgent agent;
  private Cluster opened;
  private boolean isClosed;
  private String lastProblem = "";

  /**
   * Does nothing yet.
   *
   * @param delay before the first look
   * @param pace how often to look, and where runs are kept
   * @param cluster opened by the thread: it may have to wait for Kafka
   * @param id names this plugin among those of all workers
   */
  AgentThread(
      final Duration delay,
      final PluginSettings pace,
      final Observations observations,
      final CountBook counts,
      final Supplier<Cluster> cluster,
      final ConnectorSettings settings,
      final LineageExtractor describer,
      final String id) {
    this.delay = delay;
    this.pace = pace;
    this.observations = observations;
    this.counts = counts;
    this.cluster = cluster;
    this.settings = settings;
    this.describer = describer;
    this.id = id;
    this.thread = new Thread(this::run, "connect-lineage");
    this.thread.setDaemon(true);
    // Kafka's clients find their own classes by it; Connect's threads have that of some connector.
    this.thread.setContextClassLoader(AgentThread.class.getClassLoader());
  }

  void start() {
    thread.start();
  }

  private void run() {
    try {
      Thread.sleep(delay.toMillis());
      if (open()) {
        while (!isClosed()) {
          cycle();
          observations.await(pace.pollInterval().toMillis());
        }
      }
    } catch (final InterruptedException e) {
      LOG.debug("The lineage thread was interrupted; it ends", e);
    } catch (final RuntimeException | Error e) {
      LOG.error("Lineage ends on this worker; records are not affected", e);
    } finally {
      closeCluster();
    }
  }

  private boolean open() throws InterruptedException {
    if (isClosed() || !pace.enabled()) {
      return false;
    }
    final Cluster connectors = cluster.get();
    synchronized (this) {
      opened = connectors;
    }
    final SharedState state = openState(connectors.id());
    synchronized (this) {
      if (isClosed) {
        state.close();
        return false;
      }
      agent = new LineageAgent(connectors, settings, observations, counts, state, describer);
      return true;
    }
  }

  /** Connect itself waits for Kafka as well. */
  private SharedState openState(final String group) throws InterruptedException {
    while (true) {
      try {
        return SharedState.open(pace.state(), group, id);
      } catch (final KafkaException e) {
        LOG.warn("Lineage waits for Kafka: {}", e.toString());
        Thread.sleep(RETRY_MS);
      }
    }
  }

  private void cycle() {
    try {
      agent.cycle(System.currentTimeMillis());
      lastProblem = "";
    } catch (final Cluster.UnavailableException e) {
      LOG.debug("Connect does not tell of its connectors now", e);
    } catch (final RuntimeException | StackOverflowError e) {
      if (!lastProblem.equals(e.toString())) {
        lastProblem = e.toString();
        LOG.error(
            "A look at the connectors failed; the next one follows. Records are not affected", e);
      }
    }
  }

  private synchronized boolean isClosed() {
    return isClosed;
  }

  /** Lets what is due out within the limits of the settings. Called by any thread. */
  void close() {
    final LineageAgent running;
    synchronized (this) {
      isClosed = true;
      running = agent;
    }
    observations.wake();
    if (running == null) {
      thread.interrupt();
    } else {
      closeInTime(running);
    }
  }

  /** Whatever Kafka or the service do, the worker does not wait longer for them. */
  private void closeInTime(final LineageAgent running) {
    final Thread closing =
        new Thread(() -> running.close(System.currentTimeMillis()), "connect-lineage-close");
    closing.setDaemon(true);
    closing.start();
    try {
      closing.join(pace.queue().shutdownTimeout().plus(CLOSE_MARGIN).toMillis());
    } catch (final InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void closeCluster() {
    final Cluster connectors;
    synchronized (this) {
      connectors = opened;
    }
    if (connectors != null) {
      connectors.close();
    }
  }
}
