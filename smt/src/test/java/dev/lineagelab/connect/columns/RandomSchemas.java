// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.data.Timestamp;

/** Random schemas, and values in which each leaf has a unique number. */
final class RandomSchemas {
  static final List<String> NAMES = List.of("a", "b", "c", "d", "e");
  private static final int DEPTH = 2;

  private final Random random;

  RandomSchemas(final Random random) {
    this.random = random;
  }

  /** Return a struct schema, sometimes another type. */
  Schema schema() {
    return random.nextInt(8) == 0 ? leaf() : struct(0, null);
  }

  Schema struct(final int depth, final String name) {
    final SchemaBuilder builder = SchemaBuilder.struct().name(name);
    int fields = 0;
    for (final String field : NAMES) {
      if (random.nextInt(4) > 0 || fields == 0) {
        final boolean isStruct = depth < DEPTH && random.nextInt(5) == 0;
        builder.field(field, isStruct ? struct(depth + 1, null) : leaf());
        fields++;
      }
    }
    return builder.build();
  }

  private Schema leaf() {
    return switch (random.nextInt(8)) {
      case 0 -> Schema.INT32_SCHEMA;
      case 1 -> Schema.INT64_SCHEMA;
      case 2 -> Schema.OPTIONAL_FLOAT64_SCHEMA;
      case 3 -> Timestamp.SCHEMA;
      case 4 -> SchemaBuilder.array(Schema.STRING_SCHEMA).build();
      case 5 ->
          random.nextInt(4) == 0
              ? SchemaBuilder.map(Schema.STRING_SCHEMA, Schema.INT32_SCHEMA).build()
              : Schema.INT16_SCHEMA;
      default -> Schema.OPTIONAL_STRING_SCHEMA;
    };
  }

  /** Return the paths of all fields without nested fields; the empty path for other schemas. */
  static List<List<String>> leaves(final Schema schema) {
    if (schema.type() != Schema.Type.STRUCT) {
      return List.of(List.of());
    }
    final List<List<String>> paths = new ArrayList<>();
    for (final Field field : schema.fields()) {
      for (final List<String> inner : leaves(field.schema())) {
        final List<String> path = new ArrayList<>(List.of(field.name()));
        path.addAll(inner);
        paths.add(path);
      }
    }
    return paths;
  }

  /** Return a value with the given leaves. */
  static Object value(final Schema schema, final Map<List<String>, Integer> numbers) {
    return value(schema, List.of(), numbers);
  }

  private static Object value(
      final Schema schema, final List<String> path, final Map<List<String>, Integer> numbers) {
    if (schema.type() != Schema.Type.STRUCT) {
      return leaf(schema, numbers.get(path));
    }
    final Struct struct = new Struct(schema);
    for (final Field field : schema.fields()) {
      final List<String> inner = new ArrayList<>(path);
      inner.add(field.name());
      struct.put(field, value(field.schema(), inner, numbers));
    }
    return struct;
  }

  private static Object leaf(final Schema schema, final int number) {
    if (Timestamp.LOGICAL_NAME.equals(schema.name())) {
      return new Date(number);
    }
    return switch (schema.type()) {
      case INT16 -> (short) number;
      case INT32 -> number;
      case INT64 -> (long) number;
      case FLOAT64 -> (double) number;
      case STRING -> Integer.toString(number);
      case ARRAY -> List.of(Integer.toString(number));
      case MAP -> Map.of("k", number);
      default -> throw new IllegalArgumentException(schema.type().toString());
    };
  }

  /**
   * Return the leaves of a value by path. Steps are separated by slashes, because names contain
   * dots.
   */
  static Map<String, Object> flat(final String root, final Object value) {
    final Map<String, Object> found = new LinkedHashMap<>();
    flat(root, value, found);
    return found;
  }

  private static void flat(final String path, final Object value, final Map<String, Object> found) {
    if (value instanceof final Struct struct) {
      for (final Field field : struct.schema().fields()) {
        flat(path + "/" + field.name(), struct.get(field), found);
      }
    } else {
      found.put(path, value);
    }
  }

  /** Return a unique number for each leaf, ascending in schema order. */
  static Map<List<String>, Integer> numbers(final Schema schema, final int first) {
    final Map<List<String>, Integer> numbers = new HashMap<>();
    int next = first;
    for (final List<String> path : leaves(schema)) {
      numbers.put(path, next++);
    }
    return numbers;
  }
}
