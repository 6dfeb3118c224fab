// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;

/**
 * JSON encoding of Connect schemas, without default values. A recursive schema is encoded as a
 * reference to the level that it repeats; Connect's own equals and hashCode do not terminate on it.
 */
public final class SchemaCodec {
  private SchemaCodec() {}

  /** Encode a schema, or null; equal schemas have equal text. */
  public static JsonNode encode(final Schema schema) {
    return schema == null ? JsonNodeFactory.instance.nullNode() : encode(schema, new ArrayList<>());
  }

  private static JsonNode encode(final Schema schema, final List<Schema> ancestors) {
    final ObjectNode json = JsonNodeFactory.instance.objectNode();
    final int level = levelOf(schema, ancestors);
    if (level >= 0) {
      return json.put("repeats", level);
    }
    json.put("type", schema.type().getName());
    json.put("optional", schema.isOptional());
    putIfPresent(json, "name", schema.name());
    putIfPresent(json, "doc", schema.doc());
    if (schema.version() != null) {
      json.put("version", schema.version());
    }
    if (schema.parameters() != null && !schema.parameters().isEmpty()) {
      final ObjectNode parameters = json.putObject("parameters");
      new TreeMap<>(schema.parameters()).forEach(parameters::put);
    }
    ancestors.add(schema);
    encodeParts(schema, json, ancestors);
    ancestors.remove(ancestors.size() - 1);
    return json;
  }

  private static void encodeParts(
      final Schema schema, final ObjectNode json, final List<Schema> ancestors) {
    switch (schema.type()) {
      case STRUCT -> {
        final ArrayNode fields = json.putArray("fields");
        for (final Field field : schema.fields()) {
          final ObjectNode child = fields.addObject();
          child.put("field", field.name());
          child.set("schema", encode(field.schema(), ancestors));
        }
      }
      case ARRAY -> json.set("values", encode(schema.valueSchema(), ancestors));
      case MAP -> {
        json.set("keys", encode(schema.keySchema(), ancestors));
        json.set("values", encode(schema.valueSchema(), ancestors));
      }
      default -> {
        // Primitive types have no parts.
      }
    }
  }

  /**
   * Level of {@code ancestors} that a schema repeats, or -1. Structs are compared by name too, as
   * wrappers of a recursive schema are new objects at each level.
   */
  private static int levelOf(final Schema schema, final List<Schema> ancestors) {
    for (int level = 0; level < ancestors.size(); level++) {
      final Schema other = ancestors.get(level);
      if (other == schema
          || schema.type() == Schema.Type.STRUCT
              && other.type() == Schema.Type.STRUCT
              && schema.name() != null
              && schema.name().equals(other.name())) {
        return level;
      }
    }
    return -1;
  }

  private static void putIfPresent(final ObjectNode json, final String name, final String value) {
    if (value != null) {
      json.put(name, value);
    }
  }

  /** Decode a schema; null if null was encoded. */
  public static Schema decode(final JsonNode json) {
    return json == null || json.isNull() ? null : decode(json, new ArrayList<>());
  }

  private static Schema decode(final JsonNode json, final List<SchemaBuilder> ancestors) {
    if (json.has("repeats")) {
      return ancestors.get(json.get("repeats").asInt());
    }
    final SchemaBuilder schema = builder(json, ancestors);
    if (json.get("optional").asBoolean()) {
      schema.optional();
    }
    if (json.has("name")) {
      schema.name(json.get("name").asText());
    }
    if (json.has("doc")) {
      schema.doc(json.get("doc").asText());
    }
    if (json.has("version")) {
      schema.version(json.get("version").asInt());
    }
    for (final Map.Entry<String, JsonNode> parameter : json.path("parameters").properties()) {
      schema.parameter(parameter.getKey(), parameter.getValue().asText());
    }
    if (schema.type() == Schema.Type.STRUCT) {
      decodeFields(json, schema, ancestors);
    }
    return schema.build();
  }

  private static SchemaBuilder builder(final JsonNode json, final List<SchemaBuilder> ancestors) {
    final Schema.Type type =
        Schema.Type.valueOf(json.get("type").asText().toUpperCase(Locale.ROOT));
    final List<SchemaBuilder> within = new ArrayList<>(ancestors);
    // Placeholder for this level, so that references to outer levels keep their index.
    within.add(SchemaBuilder.struct());
    return switch (type) {
      case ARRAY -> SchemaBuilder.array(decode(json.get("values"), within));
      case MAP ->
          SchemaBuilder.map(decode(json.get("keys"), within), decode(json.get("values"), within));
      default -> SchemaBuilder.type(type);
    };
  }

  private static void decodeFields(
      final JsonNode json, final SchemaBuilder schema, final List<SchemaBuilder> ancestors) {
    final List<SchemaBuilder> within = new ArrayList<>(ancestors);
    within.add(schema);
    for (final JsonNode field : json.get("fields")) {
      schema.field(field.get("field").asText(), decode(field.get("schema"), within));
    }
  }
}
