// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.model.Field;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Compares the columns of a topic as they were seen with those of a schema in the registry. */
final class SchemaMatcher {
  /** Connect's decimals have no precision of which one could be sure. */
  private static final Pattern PRECISION = Pattern.compile("decimal\\([^,)]*,");

  /** Columns of a topic that stand behind those of the value, and are in no schema of values. */
  private static final Set<String> OF_RECORD =
      Set.of("_key", "_topic", "_partition", "_offset", "_timestamp", "_headers");

  private SchemaMatcher() {}

  /** The columns of the value alone. */
  static List<Field> ofValue(final List<Field> topic) {
    int end = topic.size();
    while (end > 0 && OF_RECORD.contains(topic.get(end - 1).name().split("\\.", 2)[0])) {
      end--;
    }
    return topic.subList(0, end);
  }

  /** Whether they are the same, in the same order, with the same types. */
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

  /** Branches of unions are called with or without namespace, by an option of the converter. */
  private static String simple(final String name) {
    return name.substring(name.lastIndexOf('.') + 1);
  }

  /** What is not known may be anything; whether symbols are listed depends on the converter. */
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
