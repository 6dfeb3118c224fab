// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.connect.data.Date;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Time;
import org.apache.kafka.connect.data.Timestamp;
import org.apache.kafka.connect.errors.DataException;

/**
 * Converts Avro schemas to the Connect schemas that converters derive from them, as far as columns
 * show it: names, types and logical types. Optionality is ignored.
 */
final class AvroSchemaReader {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final Map<String, Schema.Type> PRIMITIVES =
      Map.of(
          "boolean", Schema.Type.BOOLEAN,
          "int", Schema.Type.INT32,
          "long", Schema.Type.INT64,
          "float", Schema.Type.FLOAT32,
          "double", Schema.Type.FLOAT64,
          "bytes", Schema.Type.BYTES,
          "string", Schema.Type.STRING);

  /** Types that Avro lacks; Connect stores them in a property of the Avro type. */
  private static final Map<String, Schema.Type> CONNECT_TYPES =
      Map.of("int8", Schema.Type.INT8, "int16", Schema.Type.INT16);

  private static final Map<String, String> LOGICAL_TYPES =
      Map.of(
          "decimal", Decimal.LOGICAL_NAME,
          "date", Date.LOGICAL_NAME,
          "time-millis", Time.LOGICAL_NAME,
          "timestamp-millis", Timestamp.LOGICAL_NAME);

  private final Map<String, Schema> named = new HashMap<>();
  private final Set<String> inProgress = new HashSet<>();

  private AvroSchemaReader() {}

  /** Parse the text of a schema. */
  static JsonNode parse(final String text) throws UnsupportedSchemaException {
    try {
      return JSON.readTree(text);
    } catch (final JsonProcessingException e) {
      throw new UnsupportedSchemaException("the schema is not JSON");
    }
  }

  /** Convert a schema. */
  static Schema toConnect(final JsonNode avro) throws UnsupportedSchemaException {
    try {
      return new AvroSchemaReader().schema(avro, "");
    } catch (final DataException e) {
      throw new UnsupportedSchemaException(
          "the schema has no Connect equivalent: " + e.getMessage());
    }
  }

  private Schema schema(final JsonNode avro, final String namespace)
      throws UnsupportedSchemaException {
    if (avro.isArray()) {
      return union(avro, namespace);
    }
    if (avro.isTextual()) {
      final Schema.Type primitive = PRIMITIVES.get(avro.asText());
      return primitive == null
          ? reference(fullName(avro.asText(), namespace))
          : new SchemaBuilder(primitive).build();
    }
    final JsonNode type = avro.path("type");
    return switch (type.asText()) {
      case "record", "error" -> record(avro, namespace);
      case "enum" -> enumeration(avro, namespace);
      case "fixed" -> keep(avro, namespace, scalar(avro, Schema.Type.BYTES));
      case "array" -> array(avro, namespace);
      case "map" ->
          SchemaBuilder.map(Schema.STRING_SCHEMA, schema(avro.path("values"), namespace)).build();
      default -> {
        final Schema.Type primitive = PRIMITIVES.get(type.asText());
        if (primitive == null && type.isMissingNode()) {
          throw new UnsupportedSchemaException("the schema is not Avro");
        }
        yield primitive == null ? schema(type, namespace) : scalar(avro, primitive);
      }
    };
  }

  private static Schema scalar(final JsonNode avro, final Schema.Type primitive) {
    final String narrow = avro.path("connect.type").asText();
    final SchemaBuilder builder = new SchemaBuilder(CONNECT_TYPES.getOrDefault(narrow, primitive));
    final String logical = LOGICAL_TYPES.get(avro.path("logicalType").asText());
    if (Decimal.LOGICAL_NAME.equals(logical)) {
      builder.parameter(Decimal.SCALE_FIELD, avro.path("scale").asText("0"));
    }
    final String name = avro.path("connect.name").asText(logical);
    return name == null ? builder.build() : addParameters(builder.name(name), avro).build();
  }

  private static SchemaBuilder addParameters(final SchemaBuilder builder, final JsonNode avro) {
    avro.path("connect.parameters")
        .properties()
        .forEach(
            parameter -> {
              final Map<String, String> known = builder.parameters();
              if (known == null || !known.containsKey(parameter.getKey())) {
                builder.parameter(parameter.getKey(), parameter.getValue().asText());
              }
            });
    return builder;
  }

  private Schema record(final JsonNode avro, final String outer) throws UnsupportedSchemaException {
    final String name = fullName(avro, outer);
    final String namespace = namespace(name);
    if (!inProgress.add(name)) {
      throw new UnsupportedSchemaException("there are two records with the name " + name);
    }
    final SchemaBuilder struct =
        SchemaBuilder.struct().name(avro.path("connect.name").asText(name));
    for (final JsonNode field : avro.path("fields")) {
      struct.field(field.path("name").asText(), schema(field.path("type"), namespace));
    }
    inProgress.remove(name);
    final Schema built = struct.build();
    named.put(name, built);
    return built;
  }

  /** Convert an enum to a string schema with its symbols as parameters, as converters do. */
  private Schema enumeration(final JsonNode avro, final String namespace) {
    final SchemaBuilder builder = SchemaBuilder.string();
    if (avro.has("connect.name")) {
      builder.name(avro.path("connect.name").asText());
    }
    builder.parameter("avro.Enum", fullName(avro, namespace));
    avro.path("symbols").forEach(one -> builder.parameter("avro.Enum." + one.asText(), ""));
    return keep(avro, namespace, addParameters(builder, avro).build());
  }

  /** Convert an array; converters write maps with non-string keys as arrays of entries. */
  private Schema array(final JsonNode avro, final String namespace)
      throws UnsupportedSchemaException {
    final JsonNode items = avro.path("items");
    final Schema item = schema(items, namespace);
    final boolean isMap =
        "MapEntry".equals(items.path("connect.internal.type").asText())
            || "MapEntry".equals(items.path("name").asText());
    return isMap && item.field("key") != null && item.field("value") != null
        ? SchemaBuilder.map(item.field("key").schema(), item.field("value").schema()).build()
        : SchemaBuilder.array(item).build();
  }

  /**
   * Convert a union: a union with null becomes the other branch; several other branches become a
   * struct with one field each.
   */
  private Schema union(final JsonNode avro, final String namespace)
      throws UnsupportedSchemaException {
    final List<JsonNode> branches = new ArrayList<>();
    avro.forEach(branch -> branches.add(branch));
    branches.removeIf(branch -> "null".equals(typeName(branch)));
    if (branches.size() == 1) {
      return schema(branches.get(0), namespace);
    }
    final SchemaBuilder union = SchemaBuilder.struct().name("avro.Union");
    for (final JsonNode branch : branches) {
      union.field(simpleName(typeName(branch)), schema(branch, namespace));
    }
    return union.build();
  }

  private static String typeName(final JsonNode branch) {
    if (branch.isTextual()) {
      return branch.asText();
    }
    return branch.path(branch.has("name") ? "name" : "type").asText();
  }

  private Schema keep(final JsonNode avro, final String namespace, final Schema schema) {
    named.put(fullName(avro, namespace), schema);
    return schema;
  }

  private Schema reference(final String name) throws UnsupportedSchemaException {
    final Schema known = named.get(name);
    if (known == null) {
      throw new UnsupportedSchemaException(
          inProgress.contains(name)
              ? "schema " + name + " is recursive"
              : "schema " + name + " is defined in another subject");
    }
    return known;
  }

  private static String fullName(final JsonNode avro, final String outer) {
    return fullName(avro.path("name").asText(), avro.path("namespace").asText(outer));
  }

  private static String fullName(final String name, final String namespace) {
    return name.contains(".") || namespace.isEmpty() ? name : namespace + "." + name;
  }

  private static String namespace(final String fullName) {
    final int dot = fullName.lastIndexOf('.');
    return dot < 0 ? "" : fullName.substring(0, dot);
  }

  private static String simpleName(final String name) {
    return name.substring(name.lastIndexOf('.') + 1);
  }
}
