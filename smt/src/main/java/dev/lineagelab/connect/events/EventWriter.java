// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.events;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.lineagelab.connect.metrics.RecordCounts;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.DatasetSchema;
import dev.lineagelab.connect.settings.SecretMasker;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;

/** Writes run events as JSON of OpenLineage 2-0-2. */
public final class EventWriter {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

  private EventWriter() {}

  /** Write an event as one line of JSON; equal events have equal text. */
  public static String write(final RunEvent event) {
    return json(event).toString();
  }

  /** Write an event with the state of the queue to its destination. */
  public static String write(final RunEvent event, final QueueState queue) {
    final ObjectNode json = json(event);
    RunFacets.addQueue((ObjectNode) json.get("run").get("facets"), queue);
    return json.toString();
  }

  private static ObjectNode json(final RunEvent event) {
    final ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.put("eventType", event.due().type().name());
    json.put("eventTime", TIME.format(Instant.ofEpochMilli(event.due().time())));
    json.put("producer", Producer.URI);
    json.put("schemaURL", FacetSchemas.RUN_EVENT);
    final ObjectNode run = json.putObject("run");
    run.put("runId", event.runId().toString());
    RunFacets.add(
        run.putObject("facets"), event, SecretMasker.of(event.snapshot().connector().config()));
    final ObjectNode job = json.putObject("job");
    job.put("namespace", event.jobNamespace());
    job.put("name", event.connectorName());
    JobFacets.add(job.putObject("facets"), event);
    addDatasets(json.putArray("inputs"), event, event.snapshot().lineage().inputs(), true);
    addDatasets(json.putArray("outputs"), event, event.snapshot().lineage().outputs(), false);
    return json;
  }

  private static void addDatasets(
      final ArrayNode array,
      final RunEvent event,
      final List<Dataset> datasets,
      final boolean isInput) {
    for (final Dataset dataset : datasets) {
      final ObjectNode json = array.addObject();
      json.put("namespace", dataset.namespace());
      json.put("name", dataset.name());
      final ObjectNode facets = json.putObject("facets");
      addFacets(facets, event.snapshot().lineage(), dataset);
      if (!isInput) {
        ColumnFacets.addColumnLineage(facets, event.snapshot().lineage(), dataset);
      }
      // Connect counts records per task, not per topic: they belong to a dataset only if it is the
      // only one.
      if (event.counts() != null && datasets.size() == 1 && (isInput || knowsWritten(event))) {
        addStatistics(json, event.counts(), isInput);
      }
    }
  }

  private static void addFacets(
      final ObjectNode facets, final ConnectorLineage lineage, final Dataset dataset) {
    final DatasetSchema schema = lineage.schemas().get(dataset);
    if (schema != null) {
      DatasetFacets.addSchema(facets, schema);
      DatasetFacets.addVersion(facets, schema);
    }
    DatasetFacets.addSymlinks(facets, lineage.symlinks().getOrDefault(dataset, List.of()));
  }

  /**
   * Return whether Connect counts what the connector has written: it counts a source's records when
   * Kafka has acknowledged them, and a sink's when they are passed to its task.
   */
  static boolean knowsWritten(final RunEvent event) {
    return event.snapshot().connector().type() == ConnectorType.SOURCE;
  }

  private static void addStatistics(
      final ObjectNode dataset, final RecordCounts counts, final boolean isInput) {
    if (isInput) {
      final ObjectNode facets = dataset.putObject("inputFacets");
      FacetSchemas.facet(facets, "inputStatistics", FacetSchemas.INPUT_STATISTICS)
          .put("rowCount", counts.read());
    } else {
      final ObjectNode facets = dataset.putObject("outputFacets");
      FacetSchemas.facet(facets, "outputStatistics", FacetSchemas.OUTPUT_STATISTICS)
          .put("rowCount", counts.written());
    }
  }

  static String integrationType(final ConnectorType type) {
    return type == ConnectorType.SOURCE ? "source" : "sink";
  }
}
