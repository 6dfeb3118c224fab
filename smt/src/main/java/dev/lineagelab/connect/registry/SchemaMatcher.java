// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.model.Field;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Compares observed columns of a topic with those of a registered schema. */
final class SchemaMatcher {
  /** Precision of a decimal, which Connect schemas do not carry reliably. */
  private static final Pattern PRECISION = Pattern.compile("decimal\\([^,)]*,");

  /** Columns of a topic after those of the value, which no value schema contains. */
  private static final Set<String> RECORD_COLUMNS =
      Set.of("_key", "_topic", "_partition", "_offset", "_timestamp", "_headers");

  private SchemaMatcher() {}

  /** Return the columns of the value alone. */
  static List<Field> valueFields(final List<Field> topic) {
    int end = topic.size();
    while (end > 0 && RECORD_COLUMNS.contains(topic.get(end - 1).name().split("\\.", 2)[0])) {
      end--;
    }
    return topic.subList(0, end);
  }

  /** Return true if both have the same columns and types in the same order. */
  static boolean isSame(final List<Field> one, final List<Field> other) {
    if (one.size() != other.size()) {
      return false;
    }
    for (int i = 0; i < one.size(); i++) {
      if (!isSame(one.get(i), other.get(i))) {
        return false;
      }
    }
    return true;
  }

  private static boolean isSame(final Field one, final Field other) {
    return simple(one.name()).equals(simple(other.name()))
        && isSameType(one.type(), other.type())
        && isSame(one.fields(), other.fields());
  }

  /**
   * Return a name without namespace: an option of the converter decides whether union branches have
   * one.
   */
  private static String simple(final String name) {
    return name.substring(name.lastIndexOf('.') + 1);
  }

  /**
   * Compare types. An unknown type equals any; enums equal strings, since listing symbols depends
   * on the converter.
   */
  private static boolean isSameType(final String one, final String other) {
    if (one == null || other == null) {
      return true;
    }
    final String first = normal(one);
    final String second = normal(other);
    return first.equals(second) || isText(first, second) || isText(second, first);
  }

  private static boolean isText(final String text, final String symbols) {
    return "string".equals(text) && symbols.startsWith("enum(");
  }

  private static String normal(final String type) {
    return PRECISION.matcher(type).replaceAll("decimal(").replace("union", "struct");
  }
}
