// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.cluster.ConnectCluster;
import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.state.SharedState;
import java.time.Duration;
import java.util.function.Supplier;
import org.apache.kafka.common.KafkaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Daemon thread of a {@link LineageAgent}. Logs failures once and keeps polling. */
final class AgentThread {
  private static final Logger LOG = LoggerFactory.getLogger(AgentThread.class);

  private static final long KAFKA_RETRY_MS = 3000;

  /** Time for what follows the last event: stopping the sender thread, writing the state. */
  private static final Duration CLOSE_MARGIN = Duration.ofMillis(450);

  private final PluginSettings settings;
  private final String pluginId;
  private final Supplier<ConnectCluster> clusters;
  private final AgentContext context;
  private final Thread thread;
  private Duration startDelay = Duration.ZERO;
  private LineageAgent agent;
  private ConnectCluster cluster;
  private boolean isClosed;
  private String lastProblem = "";

  /**
   * Create the thread without starting it.
   *
   * @param settings poll interval, and storage of the shared state
   * @param pluginId unique among the plugin instances of all workers
   * @param clusters called on the thread, as it may wait for Kafka
   */
  AgentThread(
      final PluginSettings settings,
      final String pluginId,
      final Supplier<ConnectCluster> clusters,
      final AgentContext context) {
    this.settings = settings;
    this.pluginId = pluginId;
    this.clusters = clusters;
    this.context = context;
    this.thread = new Thread(this::run, "connect-lineage");
    this.thread.setDaemon(true);
    // Kafka clients load their classes with it; Connect's threads have a connector's class loader.
    this.thread.setContextClassLoader(AgentThread.class.getClassLoader());
  }

  void start() {
    startAfter(Duration.ZERO);
  }

  /** Start the thread, which waits for {@code delay} before its first poll. */
  void startAfter(final Duration delay) {
    startDelay = delay;
    thread.start();
  }

  private void run() {
    try {
      Thread.sleep(startDelay.toMillis());
      if (open()) {
        while (!isClosed()) {
          poll();
          context.observations().await(settings.pollInterval().toMillis());
        }
      }
    } catch (final InterruptedException e) {
      LOG.debug("Lineage thread interrupted, stopping", e);
    } catch (final RuntimeException | Error e) {
      LOG.error("Lineage thread failed; no more lineage from this worker, records unaffected", e);
    } finally {
      closeCluster();
    }
  }

  private boolean open() throws InterruptedException {
    if (isClosed() || !settings.enabled()) {
      return false;
    }
    final ConnectCluster opened = clusters.get();
    synchronized (this) {
      cluster = opened;
    }
    final SharedState state = openState(opened.id());
    synchronized (this) {
      if (isClosed) {
        state.close();
        return false;
      }
      agent = new LineageAgent(opened, state, context);
      return true;
    }
  }

  /** Retry until Kafka responds, as Connect itself does. */
  private SharedState openState(final String group) throws InterruptedException {
    while (true) {
      try {
        return SharedState.open(settings.state(), group, pluginId);
      } catch (final KafkaException e) {
        LOG.warn(
            "Cannot open the lineage state, retrying in {} ms: {}", KAFKA_RETRY_MS, e.toString());
        Thread.sleep(KAFKA_RETRY_MS);
      }
    }
  }

  private void poll() {
    try {
      agent.poll(System.currentTimeMillis());
      lastProblem = "";
    } catch (final ConnectCluster.UnavailableException e) {
      LOG.debug("The state of the connectors is not available at present", e);
    } catch (final RuntimeException | StackOverflowError e) {
      if (!lastProblem.equals(e.toString())) {
        lastProblem = e.toString();
        LOG.error("Polling the connectors failed, retrying; records are not affected", e);
      }
    }
  }

  private synchronized boolean isClosed() {
    return isClosed;
  }

  /** Send pending events within the shutdown timeout and stop. Thread-safe. */
  void close() {
    final LineageAgent running;
    synchronized (this) {
      isClosed = true;
      running = agent;
    }
    context.observations().signal();
    if (running == null) {
      thread.interrupt();
    } else {
      closeWithTimeout(running);
    }
  }

  /** Bound the time that the worker's shutdown waits for Kafka and the lineage service. */
  private void closeWithTimeout(final LineageAgent running) {
    final Thread closing =
        new Thread(() -> running.close(System.currentTimeMillis()), "connect-lineage-close");
    closing.setDaemon(true);
    closing.start();
    try {
      closing.join(settings.queue().shutdownTimeout().plus(CLOSE_MARGIN).toMillis());
    } catch (final InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void closeCluster() {
    final ConnectCluster opened;
    synchronized (this) {
      opened = cluster;
    }
    if (opened != null) {
      opened.close();
    }
  }
}
