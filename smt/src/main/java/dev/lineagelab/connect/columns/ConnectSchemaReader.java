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
 * Turns schemas of Connect into fields. Types are called as Connect calls them, logical types by
 * their meaning. A schema may contain itself, or be small and yet have a million paths: it is cut
 * where it does, or at {@value #MAX_FIELDS} fields.
 */
public final class ConnectSchemaReader {
  /** Of one schema, with those in structs. */
  static final int MAX_FIELDS = 10_000;

  private static final int MAX_DEPTH = 20;
  private static final int MAX_SYMBOLS = 20;
  private static final String DECIMAL = "org.apache.kafka.connect.data.Decimal";
  private static final String PRECISION = "connect.decimal.precision";

  /** By the schema's name. */
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

  /** Schemas above the one that is looked at. By identity: equals and hashCode follow cycles. */
  private final Set<Schema> above = Collections.newSetFromMap(new IdentityHashMap<>());

  private int left = MAX_FIELDS;

  private ConnectSchemaReader() {}

  /**
   * The fields of a struct.
   *
   * @return empty if the schema is null or no struct's
   */
  public static List<Field> fields(final Schema schema) {
    return schema == null || schema.type() != Schema.Type.STRUCT
        ? List.of()
        : whole("", schema).fields();
  }

  /** A schema as the field of that name. */
  public static Field whole(final String name, final Schema schema) {
    return new ConnectSchemaReader().field(name, schema);
  }

  private Field field(final String name, final Schema schema) {
    if (schema.type() != Schema.Type.STRUCT) {
      return new Field(name, type(schema), schema.doc(), List.of());
    }
    if (!enter(schema)) {
      return new Field(name, structType(schema) + "<...>", schema.doc(), List.of());
    }
    final List<Field> fields = new ArrayList<>();
    for (final org.apache.kafka.connect.data.Field inner : schema.fields()) {
      left--;
      if (left < 0) {
        break;
      }
      fields.add(field(inner.name(), inner.schema()));
    }
    above.remove(schema);
    return new Field(name, structType(schema), schema.doc(), fields);
  }

  private boolean enter(final Schema schema) {
    return left > 0 && above.size() < MAX_DEPTH && above.add(schema);
  }

  private static String structType(final Schema schema) {
    final String name = schema.name() == null ? "" : schema.name();
    final boolean isUnion = name.endsWith(".Union") || hasParameter(schema, ".Union");
    return isUnion ? "union" : LOGICAL_TYPES.getOrDefault(name, "struct");
  }

  /** The type as one text: what is in arrays and maps has no fields of its own. */
  private String type(final Schema schema) {
    final String logical = schema.name() == null ? null : logicalType(schema);
    if (logical != null) {
      return logical;
    }
    return switch (schema.type()) {
      case ARRAY -> "array<" + inner(schema.valueSchema()) + ">";
      case MAP -> "map<" + inner(schema.keySchema()) + "," + inner(schema.valueSchema()) + ">";
      case STRUCT -> "struct";
      case STRING -> text(schema);
      default -> schema.type().getName();
    };
  }

  private String inner(final Schema schema) {
    if (schema == null || !enter(schema)) {
      return "...";
    }
    final String type = schema.type() == Schema.Type.STRUCT ? spelledOut(schema) : type(schema);
    above.remove(schema);
    return type;
  }

  private String spelledOut(final Schema schema) {
    final List<String> fields = new ArrayList<>();
    for (final org.apache.kafka.connect.data.Field field : schema.fields()) {
      left--;
      if (left < 0) {
        fields.add("...");
        break;
      }
      fields.add(field.name() + ":" + inner(field.schema()));
    }
    return structType(schema) + "<" + String.join(",", fields) + ">";
  }

  private static String logicalType(final Schema schema) {
    if (DECIMAL.equals(schema.name()) && schema.type() == Schema.Type.BYTES) {
      // Connect knows no precision; some converters put it beside the scale.
      final Map<String, String> parameters = parameters(schema);
      return "decimal("
          + parameters.getOrDefault(PRECISION, "*")
          + ","
          + parameters.getOrDefault("scale", "*")
          + ")";
    }
    // Kafka's Cast leaves the name of a timestamp on the number that it makes of one.
    final boolean isCast = schema.type() != BASE_TYPES.getOrDefault(schema.name(), schema.type());
    return isCast ? null : LOGICAL_TYPES.get(schema.name());
  }

  /** An enum lists its symbols in parameters, each converter in its own way. */
  private static String text(final Schema schema) {
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
