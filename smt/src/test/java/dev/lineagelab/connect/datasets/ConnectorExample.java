// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.lineagelab.connect.model.ColumnEdge;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.DatasetNamespaces;
import dev.lineagelab.connect.model.DatasetPair;
import dev.lineagelab.connect.model.Field;
import dev.lineagelab.connect.model.ObservedTopic;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Timestamp;

/** Connector with its expected lineage, from the JSON files of this package. */
record ConnectorExample(
    String title, ConnectorDefinition connector, List<ObservedTopic> topics, JsonNode expected) {
  static final DatasetNamespaces NAMESPACES =
      new DatasetNamespaces(
          "kafka://kafka:9092",
          namespace -> namespace.replace("postgres://127.0.0.1:25432", "postgres://postgres:5432"));

  private static final ObjectMapper JSON = new ObjectMapper();

  static ConnectorExample of(final JsonNode node) {
    final JsonNode config = node.get("config");
    final Map<String, String> options = new TreeMap<>();
    config.properties().forEach(option -> options.put(option.getKey(), option.getValue().asText()));
    final List<ObservedTopic> topics = new ArrayList<>();
    node.path("topics").forEach(topic -> topics.add(topic(topic)));
    final ConnectorDefinition definition =
        new ConnectorDefinition(
            "example",
            ConnectorType.valueOf(node.get("type").asText()),
            options.get("connector.class"),
            options,
            node.path("complete").asBoolean(true),
            activeTopics(node));
    return new ConnectorExample(
        node.get("title").asText(), definition, topics, node.get("expected"));
  }

  private static Set<String> activeTopics(final JsonNode node) {
    final Set<String> topics = new HashSet<>();
    node.path("activeTopics").forEach(topic -> topics.add(topic.asText()));
    return topics;
  }

  private static ObservedTopic topic(final JsonNode node) {
    return new ObservedTopic(
        node.get("topic").asText(),
        schema(node.get("key")),
        schema(node.get("value")),
        node.has("alias") ? node.get("alias").asText() : null);
  }

  /**
   * Parse a schema: a type name, or an object with the fields of a struct; {@code @} is the schema
   * name.
   */
  private static Schema schema(final JsonNode node) {
    if (node == null || node.isNull()) {
      return null;
    }
    if (node.isTextual()) {
      return switch (node.asText()) {
        case "timestamp" -> Timestamp.SCHEMA;
        case "decimal" -> Decimal.schema(2);
        case "array" -> SchemaBuilder.array(Schema.STRING_SCHEMA).build();
        default ->
            SchemaBuilder.type(Schema.Type.valueOf(node.asText().toUpperCase(Locale.ROOT))).build();
      };
    }
    final SchemaBuilder struct = SchemaBuilder.struct();
    node.properties()
        .forEach(
            field -> {
              if ("@".equals(field.getKey())) {
                struct.name(field.getValue().asText());
              } else {
                struct.field(field.getKey(), schema(field.getValue()));
              }
            });
    return struct.build();
  }

  ConnectorLineage extract() {
    return new ConnectorLineageExtractor().extract(connector, topics, NAMESPACES);
  }

  /** Convert lineage to the format of the JSON files. */
  static JsonNode json(final ConnectorLineage lineage) {
    final ObjectNode node = JSON.createObjectNode();
    names(lineage.inputs(), node.putArray("inputs"));
    names(lineage.outputs(), node.putArray("outputs"));
    final ObjectNode pairs = node.putObject("pairs");
    lineage.pairs().forEach(pair -> pair(pair, pairs));
    final ObjectNode schemas = node.putObject("schemas");
    lineage
        .schemas()
        .forEach((dataset, schema) -> schemas.set(name(dataset), fields(schema.fields())));
    final ObjectNode symlinks = node.putObject("symlinks");
    lineage
        .symlinks()
        .forEach(
            (dataset, links) ->
                links.forEach(
                    link -> symlinks.put(name(dataset), link.namespace() + " " + link.name())));
    lineage.notes().forEach(node.putArray("notes")::add);
    return node;
  }

  private static String name(final Dataset dataset) {
    return dataset.namespace() + " " + dataset.name();
  }

  private static void names(final List<Dataset> datasets, final ArrayNode array) {
    datasets.forEach(dataset -> array.add(name(dataset)));
  }

  private static void pair(final DatasetPair pair, final ObjectNode pairs) {
    final ObjectNode node = pairs.putObject(name(pair.input()) + " -> " + name(pair.output()));
    for (final ColumnEdge edge : pair.columns().edges()) {
      final String field = edge.outputField() == null ? "(rows)" : edge.outputField();
      final ArrayNode from = node.has(field) ? (ArrayNode) node.get(field) : node.putArray(field);
      from.add(edge.inputField() + " " + edge.kind() + (edge.masking() ? " masked" : ""));
    }
    pair.columns().unknownFields().forEach(field -> node.put(field, "unknown"));
    if (!pair.columns().reasons().isEmpty()) {
      pair.columns().reasons().forEach(node.putArray("(why)")::add);
    }
  }

  private static ObjectNode fields(final List<Field> fields) {
    final ObjectNode node = JSON.createObjectNode();
    for (final Field field : fields) {
      if (field.fields().isEmpty()) {
        node.put(field.name(), field.type());
      } else {
        node.set(field.name(), fields(field.fields()));
      }
    }
    return node;
  }
}
