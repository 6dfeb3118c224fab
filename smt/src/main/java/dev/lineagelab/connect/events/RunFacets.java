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
  /** Name of the facet that says how Connect sees the connector. */
  public static final String CONNECTOR = "lineagelab_connect";

  /** Characters of a trace that are worth to be kept. */
  private static final int LONGEST_TRACE = 10_000;

  private RunFacets() {}

  static void add(final ObjectNode facets, final RunEvent event, final SecretMasker secrets) {
    Schemas.facet(facets, "processing_engine", Schemas.PROCESSING_ENGINE)
        .put("version", Producer.CONNECT_VERSION)
        .put("name", "Kafka Connect")
        .put("openlineageAdapterVersion", Producer.VERSION);
    addConnector(Schemas.facet(facets, CONNECTOR, Schemas.RUN_FACET), event, secrets);
    if (event.type() == EventType.FAIL) {
      addError(facets, event.status() == null ? "" : event.status().firstTrace(), secrets);
    }
  }

  /** How Connect sees the connector. None of its options are shown. */
  private static void addConnector(
      final ObjectNode facet, final RunEvent event, final SecretMasker secrets) {
    facet.put("reason", event.reason());
    facet.put("type", EventWriter.integrationType(event.connector().type()));
    if (event.connector().connectorClass() != null) {
      facet.put("class", event.connector().connectorClass());
    }
    if (event.status() != null) {
      addStatus(facet, event.status(), secrets);
    }
    if (event.counts() != null) {
      facet
          .putObject("records")
          .put("read", event.counts().read())
          .put("written", event.counts().written())
          .put("failed", event.counts().failed())
          .put("skipped", event.counts().skipped());
    }
    final ArrayNode notes = facet.putArray("notes");
    event.description().notes().forEach(note -> notes.add(secrets.mask(note)));
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
        json.put("message", secrets.mask(firstLine(task.getValue().trace())));
      }
    }
  }

  private static void addError(
      final ObjectNode facets, final String trace, final SecretMasker secrets) {
    final String masked = secrets.mask(trace);
    final ObjectNode facet = Schemas.facet(facets, "errorMessage", Schemas.ERROR_MESSAGE);
    facet.put("message", masked.isEmpty() ? "Connect gives no reason" : message(masked));
    facet.put("programmingLanguage", "JAVA");
    if (!masked.isEmpty()) {
      facet.put("stackTrace", shortened(masked));
    }
  }

  /**
   * The first line, and the innermost cause: Connect's own line on top says no more than that
   * tolerance was exceeded.
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
    return text.length() > LONGEST_TRACE ? text.substring(0, LONGEST_TRACE) + "..." : text;
  }
}
