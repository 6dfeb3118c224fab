// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.restarts;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.connect.health.AbstractState;
import org.apache.kafka.connect.health.ConnectClusterState;
import org.apache.kafka.connect.health.ConnectorHealth;
import org.apache.kafka.connect.rest.ConnectRestExtension;
import org.apache.kafka.connect.rest.ConnectRestExtensionContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * REST extension of Kafka Connect that restarts failed connectors and tasks of its worker.
 *
 * <p>It restarts them by the worker's REST API, under {@code rest.advertised.host.name} and {@code
 * rest.advertised.port}, as an operator would.
 */
public final class FailedTaskRestarts implements ConnectRestExtension {
  private static final String FAILED = "FAILED";
  private static final long POLL_SECONDS = 2;
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(30);
  private static final Logger LOG = LoggerFactory.getLogger(FailedTaskRestarts.class);

  private final RestartSchedule schedule = new RestartSchedule();
  private final HttpClient client = HttpClient.newBuilder().connectTimeout(REQUEST_TIMEOUT).build();
  private ScheduledExecutorService executor;
  private String worker = "";

  @Override
  public void configure(Map<String, ?> settings) {
    worker = settings.get("rest.advertised.host.name") + ":" + settings.get("rest.advertised.port");
  }

  @Override
  public void register(ConnectRestExtensionContext context) {
    executor =
        Executors.newSingleThreadScheduledExecutor(
            runnable -> {
              Thread thread = new Thread(runnable, "failed-task-restarts");
              thread.setDaemon(true);
              return thread;
            });
    executor.scheduleWithFixedDelay(
        () -> restartFailed(context.clusterState()), POLL_SECONDS, POLL_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public void close() {
    if (executor != null) {
      executor.shutdownNow();
    }
  }

  @Override
  public String version() {
    return Objects.toString(getClass().getPackage().getImplementationVersion(), "unknown");
  }

  private void restartFailed(ConnectClusterState cluster) {
    try {
      List<String> failed = new ArrayList<>();
      for (String name : cluster.connectors()) {
        failed.addAll(failedParts(cluster.connectorHealth(name), worker));
      }
      for (String path : schedule.due(failed, Instant.now())) {
        restart(path);
      }
    } catch (RuntimeException error) {
      // The states are not known, as during a rebalance; an exception would end the schedule.
      LOG.debug("The states of connectors cannot be read", error);
    }
  }

  /** Return the paths, in the REST API, of the parts of a connector that failed on a worker. */
  static List<String> failedParts(ConnectorHealth connector, String worker) {
    String path =
        "/connectors/"
            + URLEncoder.encode(connector.name(), StandardCharsets.UTF_8).replace("+", "%20");
    List<String> failed = new ArrayList<>();
    if (hasFailed(connector.connectorState(), worker)) {
      failed.add(path);
    }
    connector
        .tasksState()
        .forEach(
            (number, task) -> {
              if (hasFailed(task, worker)) {
                failed.add(path + "/tasks/" + number);
              }
            });
    return failed;
  }

  private static boolean hasFailed(AbstractState state, String worker) {
    return FAILED.equals(state.state()) && worker.equals(state.workerId());
  }

  private void restart(String path) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://" + worker + path + "/restart"))
            .timeout(REQUEST_TIMEOUT)
            .POST(HttpRequest.BodyPublishers.noBody())
            .build();
    try {
      HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() >= 300) {
        LOG.warn("Restarting {} failed, it is retried: {}", path, response.body());
      } else {
        LOG.warn("{} had failed and is restarted", path);
      }
    } catch (IOException error) {
      LOG.warn("Restarting {} failed, it is retried: {}", path, error.toString());
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
  }
}
