// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.SymbolicRecord.Side;
import dev.lineagelab.connect.columns.SymbolicValue.Absent;
import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.SymbolicValue.Unknown;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Kafka's transforms that change fields of a struct each for itself. */
final class FieldTransforms {
  private static final Map<String, String> TIMESTAMP_TYPES =
      Map.of(
          "string", "string",
          "unix", "int64",
          "Date", "date",
          "Time", "time",
          "Timestamp", "timestamp");

  /** What Cast fails on. */
  private static final Pattern NO_SCALARS = Pattern.compile("array<|map<");

  /** What TimestampConverter fails on: it takes times, text and int64. */
  private static final Pattern NO_TIMES =
      Pattern.compile("array<|map<|int(8|16|32)|float|boolean|bytes|decimal");

  private FieldTransforms() {}

  /** {@code ReplaceField}: leaves fields out and renames others. */
  static SymbolicTransform replaceField(final Side side, final ConnectorOptions options) {
    final Set<String> exclude = new HashSet<>(eitherName(options, "exclude", "blacklist"));
    final Set<String> include = new HashSet<>(eitherName(options, "include", "whitelist"));
    final Map<String, String> renames = pairs(options, "renames");
    return record ->
        SymbolicTransform.onStruct(
                side,
                tree -> {
                  final StructValue kept =
                      StructOperations.remove(
                          include.isEmpty() ? tree : only(tree, include), exclude);
                  return renamed(kept, tree, renames, record.hasSchema(side));
                })
            .apply(record);
  }

  private static List<String> eitherName(
      final ConnectorOptions options, final String name, final String oldName) {
    return options.has(name) ? options.list(name) : options.list(oldName);
  }

  private static Map<String, String> pairs(final ConnectorOptions options, final String name) {
    final Map<String, String> pairs = new LinkedHashMap<>();
    for (final String item : options.list(name)) {
      final String[] parts = item.split(":");
      if (parts.length != 2) {
        throw new UnusableOptionException("'" + name + "' holds '" + item + "'");
      }
      pairs.put(parts[0], parts[1]);
    }
    return pairs;
  }

  private static StructValue only(final StructValue tree, final Set<String> names) {
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
    // In the order of the schema as far as it is known.
    Stream.concat(tree.fields().keySet().stream(), names.stream().sorted())
        .filter(names::contains)
        .filter(name -> !(tree.child(name) instanceof Absent))
        .forEach(name -> fields.put(name, tree.child(name)));
    return new StructValue(tree.name(), fields, SymbolicValue.ABSENT, Set.of(), tree.certain());
  }

  private static Optional<StructValue> renamed(
      final StructValue kept,
      final StructValue original,
      final Map<String, String> renames,
      final boolean hasSchema) {
    if (original.certain()) {
      return renamedExactly(kept, original, renames);
    }
    return Optional.of(
        hasSchema
            ? renamedBySchema(kept, original, renames)
            : renamedIfThere(kept, original, renames));
  }

  /**
   * Renames as Kafka does: it looks for the value of a new field under the name that the renames
   * give for it, even if the field was excluded or another one has that name already.
   */
  private static Optional<StructValue> renamedExactly(
      final StructValue kept, final StructValue original, final Map<String, String> renames) {
    final Map<String, String> oldNames = inverse(renames);
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
    for (final String name : kept.fields().keySet()) {
      final String newName = renames.getOrDefault(name, name);
      final SymbolicValue value = original.child(oldNames.getOrDefault(newName, newName));
      if (value instanceof Absent || fields.put(newName, value) != null) {
        return Optional.empty();
      }
    }
    return Optional.of(kept.with(fields, Set.of()));
  }

  /** Of two old names for one new name the one that counts is the last in Kafka's hash map. */
  private static Map<String, String> inverse(final Map<String, String> renames) {
    final Map<String, String> asKafkaHasThem = new HashMap<>();
    renames.forEach(asKafkaHasThem::put);
    final Map<String, String> oldNames = new LinkedHashMap<>();
    asKafkaHasThem.forEach((from, to) -> oldNames.put(to, from));
    return oldNames;
  }

  /**
   * The same where fields may or may not be there, of a struct that has a schema. A field with a
   * new name has the value of the old one in any case: Kafka fails where there is another field of
   * that name, be the old one there or not.
   */
  private static StructValue renamedBySchema(
      final StructValue kept, final StructValue original, final Map<String, String> renames) {
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>(kept.fields());
    fields.keySet().removeAll(renames.keySet());
    final Set<String> gone = new HashSet<>(kept.gone());
    gone.addAll(renames.keySet());
    inverse(renames)
        .forEach(
            (to, from) -> {
              final SymbolicValue value = original.child(from);
              final boolean isKept =
                  !(kept.child(from) instanceof Absent)
                      || !renames.containsKey(to) && !(kept.child(to) instanceof Absent);
              if (isKept && !(value instanceof Absent)) {
                fields.put(to, value);
              } else {
                fields.remove(to);
                gone.add(to);
              }
            });
    return kept.with(fields, gone);
  }

  /**
   * The same where it is not known either whether there is a schema: a map may have a field of the
   * new name and keep it, so that what that name means can be unclear.
   */
  private static StructValue renamedIfThere(
      final StructValue kept, final StructValue original, final Map<String, String> renames) {
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>(kept.fields());
    fields.keySet().removeAll(renames.keySet());
    renames.forEach(
        (from, to) -> {
          final boolean isDropped = kept.child(from) instanceof Absent;
          final boolean isUnclear =
              fields.containsKey(to)
                  || isDropped
                      && !(original.child(from) instanceof Absent)
                      && !(kept.child(to) instanceof Absent);
          if (isUnclear) {
            fields.put(
                to, Unknown.because("Whether '" + to + "' was renamed or was there is not known."));
          } else if (!isDropped) {
            fields.put(to, kept.child(from));
          }
        });
    final Set<String> gone = new HashSet<>(kept.gone());
    gone.addAll(renames.keySet());
    return kept.with(fields, gone);
  }

  /** {@code Cast}: converts the whole, or fields. */
  static SymbolicTransform cast(final Side side, final ConnectorOptions options) {
    final List<String> spec = options.list("spec");
    if (spec.isEmpty()) {
      throw new UnusableOptionException("'spec' is missing");
    }
    if (spec.size() == 1 && !spec.get(0).contains(":")) {
      final String type = spec.get(0).toLowerCase(Locale.ROOT);
      return record ->
          SymbolicTransform.changed(
              record, side, StructOperations.converted(record.side(side), type));
    }
    final Map<String, String> types = pairs(options, "spec");
    return SymbolicTransform.onStruct(
        side,
        tree -> {
          Optional<StructValue> changed = Optional.of(tree);
          for (final Map.Entry<String, String> cast : types.entrySet()) {
            final String type = cast.getValue().strip().toLowerCase(Locale.ROOT);
            changed =
                changed.flatMap(
                    t ->
                        StructOperations.replace(t, cast.getKey().strip(), old -> cast(old, type)));
          }
          return changed;
        });
  }

  private static Optional<SymbolicValue> cast(final SymbolicValue shape, final String type) {
    return isAnyOf(shape, NO_SCALARS) ? Optional.empty() : StructOperations.converted(shape, type);
  }

  private static boolean isAnyOf(final SymbolicValue shape, final Pattern types) {
    return shape instanceof final Leaf leaf
        && leaf.type() != null
        && types.matcher(leaf.type()).lookingAt();
  }

  /** {@code MaskField}: the same value in place of all. It fails where there is no value. */
  static SymbolicTransform maskField(final Side side, final ConnectorOptions options) {
    final List<String> names = options.list("fields");
    return SymbolicTransform.onPresentStruct(
        side,
        tree -> {
          Optional<StructValue> changed = Optional.of(tree);
          for (final String name : names) {
            changed =
                changed.flatMap(t -> StructOperations.replace(t, name, FieldTransforms::masked));
          }
          return changed;
        });
  }

  /** A field whose value does not tell what it was. */
  static Optional<SymbolicValue> masked(final SymbolicValue shape) {
    return StructOperations.computed(shape, null, Contribution::masked);
  }

  /** {@code TimestampConverter}: converts the whole, or a field. */
  static SymbolicTransform timestampConverter(final Side side, final ConnectorOptions options) {
    final String type = TIMESTAMP_TYPES.get(options.required("target.type"));
    if (type == null) {
      throw new UnusableOptionException("'target.type' is none that is known");
    }
    final Optional<String> field = options.text("field");
    return field
        .map(
            name ->
                SymbolicTransform.onStruct(
                    side, tree -> StructOperations.replace(tree, name, old -> time(old, type))))
        .orElse(record -> SymbolicTransform.changed(record, side, time(record.side(side), type)));
  }

  private static Optional<SymbolicValue> time(final SymbolicValue shape, final String type) {
    return isAnyOf(shape, NO_TIMES) ? Optional.empty() : StructOperations.converted(shape, type);
  }
}
