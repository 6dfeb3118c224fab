// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.events;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.lineagelab.connect.model.ColumnEdge;
import dev.lineagelab.connect.model.ColumnLineage;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.DatasetPair;
import dev.lineagelab.connect.model.EdgeKind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Column lineage of an output, as columnLineage facet and as entry of the lineage facet. */
final class ColumnFacets {
  /** Column of an input, which may have several edges of different kinds to an output. */
  private record Source(Dataset dataset, String field) implements Comparable<Source> {
    private static final Comparator<Source> ORDER =
        Comparator.comparing(Source::dataset).thenComparing(Source::field);

    @Override
    public int compareTo(final Source other) {
      return ORDER.compare(this, other);
    }
  }

  private ColumnFacets() {}

  /** Add the columnLineage facet, with columns of unknown origin, unless both are empty. */
  static void addColumnLineage(
      final ObjectNode facets, final ConnectorLineage lineage, final Dataset output) {
    final ColumnLineage columns = columnsOf(lineage, output);
    if (columns.edges().isEmpty() && columns.unknownFields().isEmpty()) {
      return;
    }
    final ObjectNode facet =
        FacetSchemas.facet(facets, "columnLineage", FacetSchemas.COLUMN_LINEAGE);
    final ObjectNode fields = facet.putObject("fields");
    byField(columns)
        .forEach(
            (name, edges) -> {
              final ObjectNode field = fields.putObject(name);
              addInputs(field.putArray("inputFields"), edges, false);
              addTransformationType(field, edges);
            });
    final List<ColumnEdge> ofRows = ofRows(columns);
    if (!ofRows.isEmpty()) {
      addInputs(facet.putArray("dataset"), ofRows, false);
    }
    if (!columns.unknownFields().isEmpty()) {
      columns.unknownFields().forEach(facet.putArray("unknownFields")::add);
      columns.reasons().forEach(facet.putArray("unknownBecause")::add);
    }
  }

  /** Add the lineage facet's entry of an output: sources of its rows and of each column. */
  static void addEntry(
      final ArrayNode entries, final ConnectorLineage lineage, final Dataset output) {
    final ColumnLineage columns = columnsOf(lineage, output);
    final ObjectNode entry = entries.addObject();
    addIdentity(entry, output);
    final ArrayNode inputs = entry.putArray("inputs");
    lineage.pairs().stream()
        .filter(pair -> pair.output().equals(output))
        .map(DatasetPair::input)
        .distinct()
        .sorted()
        .forEach(input -> addIdentity(inputs.addObject(), input));
    addInputs(inputs, ofRows(columns), true);
    final ObjectNode fields = entry.putObject("fields");
    byField(columns)
        .forEach(
            (name, edges) -> addInputs(fields.putObject(name).putArray("inputs"), edges, true));
  }

  private static void addIdentity(final ObjectNode json, final Dataset dataset) {
    json.put("namespace", dataset.namespace());
    json.put("name", dataset.name());
    json.put("type", "DATASET");
  }

  private static ColumnLineage columnsOf(final ConnectorLineage lineage, final Dataset output) {
    final List<ColumnLineage> all =
        lineage.pairs().stream()
            .filter(pair -> pair.output().equals(output))
            .map(DatasetPair::columns)
            .toList();
    return new ColumnLineage(
        all.stream().flatMap(columns -> columns.edges().stream()).toList(),
        all.stream()
            .flatMap(columns -> columns.unknownFields().stream())
            .collect(Collectors.toSet()),
        all.stream().flatMap(columns -> columns.reasons().stream()).distinct().toList());
  }

  private static Map<String, List<ColumnEdge>> byField(final ColumnLineage columns) {
    final Map<String, List<ColumnEdge>> found = new TreeMap<>();
    for (final ColumnEdge edge : columns.edges()) {
      if (edge.outputField() != null) {
        found.computeIfAbsent(edge.outputField(), name -> new ArrayList<>()).add(edge);
      }
    }
    return found;
  }

  private static List<ColumnEdge> ofRows(final ColumnLineage columns) {
    return columns.edges().stream().filter(edge -> edge.outputField() == null).toList();
  }

  private static void addInputs(
      final ArrayNode array, final List<ColumnEdge> edges, final boolean withType) {
    final Map<Source, List<ColumnEdge>> bySource = new TreeMap<>();
    for (final ColumnEdge edge : edges) {
      bySource
          .computeIfAbsent(new Source(edge.input(), edge.inputField()), source -> new ArrayList<>())
          .add(edge);
    }
    bySource.forEach(
        (source, same) -> {
          final ObjectNode input = array.addObject();
          input.put("namespace", source.dataset().namespace());
          input.put("name", source.dataset().name());
          if (withType) {
            input.put("type", "DATASET");
          }
          input.put("field", source.field());
          final ArrayNode transformations = input.putArray("transformations");
          same.forEach(edge -> addTransformation(transformations.addObject(), edge));
        });
  }

  private static void addTransformation(final ObjectNode json, final ColumnEdge edge) {
    json.put("type", edge.kind().isDirect() ? "DIRECT" : "INDIRECT");
    json.put("subtype", edge.kind().name());
    json.put("description", "");
    json.put("masking", edge.masking());
  }

  /** Add the deprecated transformationType, which has two values only, for older consumers. */
  private static void addTransformationType(final ObjectNode field, final List<ColumnEdge> edges) {
    if (edges.stream().anyMatch(ColumnEdge::masking)) {
      field.put("transformationType", "MASKED");
    } else if (edges.stream().allMatch(edge -> edge.kind() == EdgeKind.IDENTITY)) {
      field.put("transformationType", "IDENTITY");
    } else {
      return;
    }
    field.put("transformationDescription", "");
  }
}
