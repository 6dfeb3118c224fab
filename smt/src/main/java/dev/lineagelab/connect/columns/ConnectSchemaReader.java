// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.model.Field;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.connect.data.Schema;

/**
 * Converts Connect schemas to fields. Types keep Connect's names, logical types get a name for
 * their meaning. Recursive schemas are truncated at the recursion, and small schemas that expand to
 * millions of paths at {@value #MAX_FIELDS} fields.
 */
public final class ConnectSchemaReader {
  /** Maximum number of fields of one schema, nested fields included. */
  static final int MAX_FIELDS = 10_000;

  private static final int MAX_DEPTH = 20;
  private static final int MAX_SYMBOLS = 20;
  private static final String DECIMAL = "org.apache.kafka.connect.data.Decimal";
  private static final String PRECISION_PARAMETER = "connect.decimal.precision";

  /** Type names by the name of the logical schema. */
  private static final Map<String, String> LOGICAL_TYPES =
      Map.ofEntries(
          Map.entry("org.apache.kafka.connect.data.Date", "date"),
          Map.entry("org.apache.kafka.connect.data.Time", "time"),
          Map.entry("org.apache.kafka.connect.data.Timestamp", "timestamp"),
          Map.entry("io.debezium.time.Date", "date32"),
          Map.entry("io.debezium.time.Time", "time(3)"),
          Map.entry("io.debezium.time.MicroTime", "time(6)"),
          Map.entry("io.debezium.time.NanoTime", "time(9)"),
          Map.entry("io.debezium.time.Timestamp", "timestamp(3)"),
          Map.entry("io.debezium.time.MicroTimestamp", "timestamp(6)"),
          Map.entry("io.debezium.time.NanoTimestamp", "timestamp(9)"),
          Map.entry("io.debezium.time.ZonedTime", "time with time zone"),
          Map.entry("io.debezium.time.ZonedTimestamp", "timestamp with time zone"),
          Map.entry("io.debezium.time.Year", "year"),
          Map.entry("io.debezium.time.Interval", "interval"),
          Map.entry("io.debezium.time.MicroDuration", "duration(6)"),
          Map.entry("io.debezium.time.NanoDuration", "duration(9)"),
          Map.entry("io.debezium.data.Uuid", "uuid"),
          Map.entry("io.debezium.data.Json", "json"),
          Map.entry("io.debezium.data.Xml", "xml"),
          Map.entry("io.debezium.data.Ltree", "ltree"),
          Map.entry("io.debezium.data.Bits", "bits"),
          Map.entry("io.debezium.data.geometry.Geometry", "geometry"),
          Map.entry("io.debezium.data.geometry.Geography", "geography"),
          Map.entry("io.debezium.data.geometry.Point", "point"));

  private static final Map<String, Schema.Type> BASE_TYPES =
      Map.of(
          "org.apache.kafka.connect.data.Date", Schema.Type.INT32,
          "org.apache.kafka.connect.data.Time", Schema.Type.INT32,
          "org.apache.kafka.connect.data.Timestamp", Schema.Type.INT64);

  /**
   * Schemas on the path to the current one, compared by identity: equals and hashCode do not
   * terminate on cycles.
   */
  private final Set<Schema> ancestors = Collections.newSetFromMap(new IdentityHashMap<>());

  private int remainingFields = MAX_FIELDS;

  private ConnectSchemaReader() {}

  /**
   * Return the fields of a struct schema.
   *
   * @return empty if the schema is null or not a struct
   */
  public static List<Field> fields(final Schema schema) {
    return schema == null || schema.type() != Schema.Type.STRUCT
        ? List.of()
        : field("", schema).fields();
  }

  /** Convert a schema to a field of the given name. */
  public static Field field(final String name, final Schema schema) {
    return new ConnectSchemaReader().read(name, schema);
  }

  private Field read(final String name, final Schema schema) {
    if (schema.type() != Schema.Type.STRUCT) {
      return new Field(name, type(schema), schema.doc(), List.of());
    }
    if (!enter(schema)) {
      return new Field(name, structType(schema) + "<...>", schema.doc(), List.of());
    }
    final List<Field> fields = new ArrayList<>();
    for (final org.apache.kafka.connect.data.Field inner : schema.fields()) {
      remainingFields--;
      if (remainingFields < 0) {
        break;
      }
      fields.add(read(inner.name(), inner.schema()));
    }
    ancestors.remove(schema);
    return new Field(name, structType(schema), schema.doc(), fields);
  }

  private boolean enter(final Schema schema) {
    return remainingFields > 0 && ancestors.size() < MAX_DEPTH && ancestors.add(schema);
  }

  private static String structType(final Schema schema) {
    final String name = schema.name() == null ? "" : schema.name();
    final boolean isUnion = name.endsWith(".Union") || hasParameter(schema, ".Union");
    return isUnion ? "union" : LOGICAL_TYPES.getOrDefault(name, "struct");
  }

  /** Return the type as one text; elements of arrays and maps are spelled out in it. */
  private String type(final Schema schema) {
    final String logical = schema.name() == null ? null : logicalType(schema);
    if (logical != null) {
      return logical;
    }
    return switch (schema.type()) {
      case ARRAY -> "array<" + nestedType(schema.valueSchema()) + ">";
      case MAP ->
          "map<" + nestedType(schema.keySchema()) + "," + nestedType(schema.valueSchema()) + ">";
      case STRUCT -> "struct";
      case STRING -> textType(schema);
      default -> schema.type().getName();
    };
  }

  private String nestedType(final Schema schema) {
    if (schema == null || !enter(schema)) {
      return "...";
    }
    final String type = schema.type() == Schema.Type.STRUCT ? structTypeText(schema) : type(schema);
    ancestors.remove(schema);
    return type;
  }

  private String structTypeText(final Schema schema) {
    final List<String> fields = new ArrayList<>();
    for (final org.apache.kafka.connect.data.Field field : schema.fields()) {
      remainingFields--;
      if (remainingFields < 0) {
        fields.add("...");
        break;
      }
      fields.add(field.name() + ":" + nestedType(field.schema()));
    }
    return structType(schema) + "<" + String.join(",", fields) + ">";
  }

  private static String logicalType(final Schema schema) {
    if (DECIMAL.equals(schema.name()) && schema.type() == Schema.Type.BYTES) {
      // Connect has no precision; some converters add it as a parameter.
      final Map<String, String> parameters = parameters(schema);
      return "decimal("
          + parameters.getOrDefault(PRECISION_PARAMETER, "*")
          + ","
          + parameters.getOrDefault("scale", "*")
          + ")";
    }
    // Kafka's Cast keeps the schema name of a timestamp when it converts it to a number.
    final boolean isCast = schema.type() != BASE_TYPES.getOrDefault(schema.name(), schema.type());
    return isCast ? null : LOGICAL_TYPES.get(schema.name());
  }

  /**
   * Return {@code string} or an enum with its symbols, which each converter encodes in its own
   * parameters.
   */
  private static String textType(final Schema schema) {
    final Map<String, String> parameters = parameters(schema);
    final List<String> symbols;
    if (schema.name() != null && schema.name().startsWith("io.debezium.data.Enum")) {
      symbols = List.of(parameters.getOrDefault("allowed", "").split("\\s*,\\s*"));
    } else {
      symbols =
          parameters.keySet().stream()
              .filter(name -> name.endsWith(".Enum"))
              .findFirst()
              .map(marker -> symbols(parameters, marker + "."))
              .orElse(List.of());
    }
    if (symbols.isEmpty()) {
      return "string";
    }
    final String shown = symbols.stream().limit(MAX_SYMBOLS).collect(Collectors.joining(","));
    return "enum(" + shown + (symbols.size() > MAX_SYMBOLS ? ",..." : "") + ")";
  }

  private static List<String> symbols(final Map<String, String> parameters, final String prefix) {
    return parameters.keySet().stream()
        .filter(name -> name.startsWith(prefix))
        .map(name -> name.substring(prefix.length()))
        .sorted()
        .toList();
  }

  private static boolean hasParameter(final Schema schema, final String suffix) {
    return parameters(schema).keySet().stream().anyMatch(name -> name.endsWith(suffix));
  }

  private static Map<String, String> parameters(final Schema schema) {
    return schema.parameters() == null ? Map.of() : schema.parameters();
  }
}
