// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.SinkConversions;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Mappings from Connect types to the types of stores. */
final class StoreTypeMappings {
  /** Types of the columns that the Iceberg sink creates, under their SQL names. */
  static final SinkConversions.TypeMapping ICEBERG = StoreTypeMappings::iceberg;

  /** Types of JSON documents in which times and decimals are text. */
  static final SinkConversions.TypeMapping JSON =
      new SinkConversions.TypeMapping() {
        @Override
        public String storeType(final String type) {
          return isTextInJson(type) ? "string" : jsonName(iceberg(type));
        }

        @Override
        public boolean changesValue(final String type) {
          return isTextInJson(type) || "bytes".equals(type);
        }
      };

  private static final Set<String> JSON_TIMES = Set.of("date", "time", "timestamp");

  /** Type name that is not a field name of a struct. */
  private static final Pattern TYPE =
      Pattern.compile("(?<![\\w.])([a-z]+\\d*(?:\\([^)]*\\))?(?: with time zone)?)(?![\\w:(])");

  private static final Map<String, String> ICEBERG_TYPES =
      Map.ofEntries(
          Map.entry("int8", "int"),
          Map.entry("int16", "int"),
          Map.entry("int32", "int"),
          Map.entry("int64", "bigint"),
          Map.entry("float32", "float"),
          Map.entry("float64", "double"),
          Map.entry("bytes", "binary"),
          Map.entry("bits", "binary"),
          Map.entry("date32", "int"),
          Map.entry("time(3)", "int"),
          Map.entry("time(6)", "bigint"),
          Map.entry("time(9)", "bigint"),
          Map.entry("timestamp(3)", "bigint"),
          Map.entry("timestamp(6)", "bigint"),
          Map.entry("timestamp(9)", "bigint"),
          Map.entry("duration(6)", "bigint"),
          Map.entry("duration(9)", "bigint"),
          Map.entry("year", "int"),
          Map.entry("time with time zone", "string"),
          Map.entry("timestamp with time zone", "string"),
          Map.entry("interval", "string"),
          Map.entry("uuid", "string"),
          Map.entry("json", "string"),
          Map.entry("xml", "string"),
          Map.entry("ltree", "string"),
          Map.entry("union", "struct"),
          Map.entry("geometry", "struct"),
          Map.entry("geography", "struct"),
          Map.entry("point", "struct"));

  private StoreTypeMappings() {}

  private static String iceberg(final String type) {
    final Matcher types = TYPE.matcher(type);
    return types.replaceAll(found -> Matcher.quoteReplacement(icebergName(found.group(1))));
  }

  private static String icebergName(final String type) {
    if (type.startsWith("decimal(")) {
      // The sink ignores the precision.
      return "decimal(38," + type.substring(type.indexOf(',') + 1);
    }
    return type.startsWith("enum(") ? "string" : ICEBERG_TYPES.getOrDefault(type, type);
  }

  private static boolean isTextInJson(final String type) {
    return JSON_TIMES.contains(type) || type.startsWith("decimal(");
  }

  private static String jsonName(final String type) {
    final String name = type.split("[<(]", 2)[0];
    return switch (name) {
      case "int", "bigint", "float", "double", "decimal" -> "number";
      case "boolean" -> "boolean";
      case "array" -> "array";
      case "map", "struct" -> "object";
      default -> "string";
    };
  }
}
