// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.events;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.lineagelab.connect.runs.ConnectorStatus;
import dev.lineagelab.connect.runs.EventType;
import dev.lineagelab.connect.runs.TaskStatus;
import dev.lineagelab.connect.settings.SecretMasker;
import java.util.Map;

/** Facets of the run. */
public final class RunFacets {
  /** Facet with the state that Connect reports for the connector. */
  public static final String CONNECTOR = "lineagelab_connect";

  /** Facet with the state of the queue to the destination. */
  public static final String QUEUE = "lineageLab_emitterQueue";

  /** Length limit of messages and stack traces, in characters. */
  private static final int MAX_TRACE_LENGTH = 10_000;

  private RunFacets() {}

  static void add(final ObjectNode facets, final RunEvent event, final SecretMasker secrets) {
    FacetSchemas.facet(facets, "processing_engine", FacetSchemas.PROCESSING_ENGINE)
        .put("version", Producer.CONNECT_VERSION)
        .put("name", "Kafka Connect")
        .put("openlineageAdapterVersion", Producer.VERSION);
    addConnector(FacetSchemas.facet(facets, CONNECTOR, FacetSchemas.RUN_FACET), event, secrets);
    if (event.due().type() == EventType.FAIL) {
      final boolean withTrace = event.snapshot().settings().includesStackTraces();
      addError(facets, event.snapshot().status().firstTrace(), withTrace, secrets);
    }
  }

  static void addQueue(final ObjectNode facets, final QueueState queue) {
    FacetSchemas.facet(facets, QUEUE, FacetSchemas.QUEUE)
        .put("waiting", queue.waiting())
        .put("dropped", queue.dropped());
  }

  /** Add type, class and state of the connector, but none of its options, which may be secret. */
  private static void addConnector(
      final ObjectNode facet, final RunEvent event, final SecretMasker secrets) {
    facet.put("reason", event.due().reason());
    facet.put("type", EventWriter.integrationType(event.snapshot().connector().type()));
    if (event.snapshot().connector().connectorClass() != null) {
      facet.put("class", event.snapshot().connector().connectorClass());
    }
    addStatus(facet, event.snapshot().status(), secrets);
    if (event.counts() != null) {
      facet
          .putObject("records")
          .put("read", event.counts().read())
          .put(EventWriter.knowsWritten(event) ? "written" : "passed", event.counts().written())
          .put("failed", event.counts().failed())
          .put("skipped", event.counts().skipped());
    }
    final ArrayNode notes = facet.putArray("notes");
    event.snapshot().lineage().notes().forEach(note -> notes.add(secrets.mask(note)));
  }

  private static void addStatus(
      final ObjectNode facet, final ConnectorStatus status, final SecretMasker secrets) {
    facet.put("state", status.state());
    if (status.worker() != null) {
      facet.put("worker", status.worker());
    }
    final ArrayNode tasks = facet.putArray("tasks");
    for (final Map.Entry<Integer, TaskStatus> task : status.tasks().entrySet()) {
      final ObjectNode json = tasks.addObject();
      json.put("task", task.getKey());
      json.put("state", task.getValue().state());
      if (task.getValue().worker() != null) {
        json.put("worker", task.getValue().worker());
      }
      if (task.getValue().trace() != null) {
        json.put("message", message(secrets.mask(task.getValue().trace())));
      }
    }
  }

  private static void addError(
      final ObjectNode facets,
      final String trace,
      final boolean withTrace,
      final SecretMasker secrets) {
    final String masked = secrets.mask(trace);
    final ObjectNode facet = FacetSchemas.facet(facets, "errorMessage", FacetSchemas.ERROR_MESSAGE);
    facet.put("message", masked.isEmpty() ? "Connect gives no reason" : message(masked));
    facet.put("programmingLanguage", "JAVA");
    if (withTrace && !masked.isEmpty()) {
      facet.put("stackTrace", shortened(masked));
    }
  }

  /**
   * First line and innermost cause of a trace: the first line alone is often Connect's message that
   * the error tolerance was exceeded.
   */
  private static String message(final String trace) {
    final int cause = trace.lastIndexOf("\nCaused by: ");
    final String first = firstLine(trace);
    return cause < 0 ? first : first + " " + firstLine(trace.substring(cause + 1));
  }

  private static String firstLine(final String text) {
    return shortened(text.lines().findFirst().orElse(""));
  }

  private static String shortened(final String text) {
    return text.length() > MAX_TRACE_LENGTH ? text.substring(0, MAX_TRACE_LENGTH) + "..." : text;
  }
}
