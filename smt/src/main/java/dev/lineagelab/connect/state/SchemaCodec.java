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
 * Connect schemas as JSON and back, but for default values. A schema that contains itself is
 * written as a reference to the level that it repeats; Connect's own comparison and hash would not
 * end there.
 */
public final class SchemaCodec {
  private SchemaCodec() {}

  /** The schema as JSON; equal schemas give equal text. Null gives null. */
  public static JsonNode encode(final Schema schema) {
    return schema == null ? JsonNodeFactory.instance.nullNode() : encode(schema, new ArrayList<>());
  }

  private static JsonNode encode(final Schema schema, final List<Schema> above) {
    final ObjectNode json = JsonNodeFactory.instance.objectNode();
    final int level = levelOf(schema, above);
    if (level >= 0) {
      return json.put("repeats", level);
    }
    json.put("type", schema.type().getName());
    json.put("optional", schema.isOptional());
    putIfThere(json, "name", schema.name());
    putIfThere(json, "doc", schema.doc());
    if (schema.version() != null) {
      json.put("version", schema.version());
    }
    if (schema.parameters() != null && !schema.parameters().isEmpty()) {
      final ObjectNode parameters = json.putObject("parameters");
      new TreeMap<>(schema.parameters()).forEach(parameters::put);
    }
    above.add(schema);
    encodeParts(schema, json, above);
    above.remove(above.size() - 1);
    return json;
  }

  private static void encodeParts(
      final Schema schema, final ObjectNode json, final List<Schema> above) {
    switch (schema.type()) {
      case STRUCT -> {
        final ArrayNode fields = json.putArray("fields");
        for (final Field field : schema.fields()) {
          final ObjectNode child = fields.addObject();
          child.put("field", field.name());
          child.set("schema", encode(field.schema(), above));
        }
      }
      case ARRAY -> json.set("values", encode(schema.valueSchema(), above));
      case MAP -> {
        json.set("keys", encode(schema.keySchema(), above));
        json.set("values", encode(schema.valueSchema(), above));
      }
      default -> {
        // Has no parts.
      }
    }
  }

  /**
   * Wrappers of a schema that contains itself are new objects at each level: names tell as well.
   */
  private static int levelOf(final Schema schema, final List<Schema> above) {
    for (int level = 0; level < above.size(); level++) {
      final Schema other = above.get(level);
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

  private static void putIfThere(final ObjectNode json, final String name, final String value) {
    if (value != null) {
      json.put(name, value);
    }
  }

  /** The schema that was encoded; null if there was none. */
  public static Schema decode(final JsonNode json) {
    return json == null || json.isNull() ? null : decode(json, new ArrayList<>());
  }

  private static Schema decode(final JsonNode json, final List<SchemaBuilder> above) {
    if (json.has("repeats")) {
      return above.get(json.get("repeats").asInt());
    }
    final SchemaBuilder schema = builder(json, above);
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
      decodeFields(json, schema, above);
    }
    return schema.build();
  }

  private static SchemaBuilder builder(final JsonNode json, final List<SchemaBuilder> above) {
    final Schema.Type type =
        Schema.Type.valueOf(json.get("type").asText().toUpperCase(Locale.ROOT));
    final List<SchemaBuilder> within = new ArrayList<>(above);
    // Holds the place of this level, to which a field within may refer; only structs are named so.
    within.add(SchemaBuilder.struct());
    return switch (type) {
      case ARRAY -> SchemaBuilder.array(decode(json.get("values"), within));
      case MAP ->
          SchemaBuilder.map(decode(json.get("keys"), within), decode(json.get("values"), within));
      default -> SchemaBuilder.type(type);
    };
  }

  private static void decodeFields(
      final JsonNode json, final SchemaBuilder schema, final List<SchemaBuilder> above) {
    final List<SchemaBuilder> within = new ArrayList<>(above);
    within.add(schema);
    for (final JsonNode field : json.get("fields")) {
      schema.field(field.get("field").asText(), decode(field.get("schema"), within));
    }
  }
}
