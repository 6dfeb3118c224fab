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

/** Models of Kafka's transforms that change single fields of a struct. */
final class FieldTransforms {
  private static final Map<String, String> TIMESTAMP_TYPES =
      Map.of(
          "string", "string",
          "unix", "int64",
          "Date", "date",
          "Time", "time",
          "Timestamp", "timestamp");

  /** Types on which Cast fails. */
  private static final Pattern NOT_CASTABLE = Pattern.compile("array<|map<");

  /** Types on which TimestampConverter fails: it accepts times, text and int64. */
  private static final Pattern NOT_A_TIME =
      Pattern.compile("array<|map<|int(8|16|32)|float|boolean|bytes|decimal");

  private FieldTransforms() {}

  /** {@code ReplaceField}: drops and renames fields. */
  static SymbolicTransform replaceField(final Side side, final ConnectorOptions options) {
    final Set<String> exclude = new HashSet<>(listWithLegacyName(options, "exclude", "blacklist"));
    final Set<String> include = new HashSet<>(listWithLegacyName(options, "include", "whitelist"));
    final Map<String, String> renames = pairs(options, "renames");
    return record ->
        SymbolicTransform.onStruct(
                side,
                struct -> {
                  final StructValue kept =
                      StructOperations.remove(
                          include.isEmpty() ? struct : only(struct, include), exclude);
                  return renamed(kept, struct, renames, record.hasSchema(side));
                })
            .apply(record);
  }

  private static List<String> listWithLegacyName(
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

  private static StructValue only(final StructValue struct, final Set<String> names) {
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
    // In schema order as far as the schema is known.
    Stream.concat(struct.fields().keySet().stream(), names.stream().sorted())
        .filter(names::contains)
        .filter(name -> !(struct.child(name) instanceof Absent))
        .forEach(name -> fields.put(name, struct.child(name)));
    return new StructValue(
        struct.name(), fields, SymbolicValue.ABSENT, Set.of(), struct.fieldsPresent());
  }

  private static Optional<StructValue> renamed(
      final StructValue kept,
      final StructValue original,
      final Map<String, String> renames,
      final boolean hasSchema) {
    if (original.fieldsPresent()) {
      return renamedExactly(kept, original, renames);
    }
    return Optional.of(
        hasSchema
            ? renamedBySchema(kept, original, renames)
            : renamedIfThere(kept, original, renames));
  }

  /**
   * Rename fields of a struct that is fully known. Kafka reads the value of a renamed field by its
   * old name even if that field was excluded, or if another field already has the new name.
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
    return Optional.of(kept.withFields(fields, Set.of()));
  }

  /**
   * Invert the renames. If two old names map to one new name, the last one in the iteration order
   * of Kafka's HashMap wins.
   */
  private static Map<String, String> inverse(final Map<String, String> renames) {
    final Map<String, String> inHashMapOrder = new HashMap<>();
    renames.forEach(inHashMapOrder::put);
    final Map<String, String> oldNames = new LinkedHashMap<>();
    inHashMapOrder.forEach((from, to) -> oldNames.put(to, from));
    return oldNames;
  }

  /**
   * Rename fields that may or may not exist, in a struct that has a schema. A field with a new name
   * always has the value of the old field: Kafka fails if another field already has that name.
   */
  private static StructValue renamedBySchema(
      final StructValue kept, final StructValue original, final Map<String, String> renames) {
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>(kept.fields());
    fields.keySet().removeAll(renames.keySet());
    final Set<String> removed = new HashSet<>(kept.removed());
    removed.addAll(renames.keySet());
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
                removed.add(to);
              }
            });
    return kept.withFields(fields, removed);
  }

  /**
   * Rename fields that may or may not exist, where the value may lack a schema. A map can contain a
   * field with the new name and keep it, so the origin of that name can be ambiguous.
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
                to,
                Unknown.because(
                    "It is unknown whether '" + to + "' was renamed or existed before."));
          } else if (!isDropped) {
            fields.put(to, kept.child(from));
          }
        });
    final Set<String> removed = new HashSet<>(kept.removed());
    removed.addAll(renames.keySet());
    return kept.withFields(fields, removed);
  }

  /** {@code Cast}: converts the entire key or value, or single fields. */
  static SymbolicTransform cast(final Side side, final ConnectorOptions options) {
    final List<String> spec = options.list("spec");
    if (spec.isEmpty()) {
      throw new UnusableOptionException("'spec' is missing");
    }
    if (spec.size() == 1 && !spec.get(0).contains(":")) {
      final String type = spec.get(0).toLowerCase(Locale.ROOT);
      return record ->
          SymbolicTransform.replaceSide(
              record, side, StructOperations.convert(record.side(side), type));
    }
    final Map<String, String> types = pairs(options, "spec");
    return SymbolicTransform.onStruct(
        side,
        struct -> {
          Optional<StructValue> changed = Optional.of(struct);
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

  private static Optional<SymbolicValue> cast(final SymbolicValue value, final String type) {
    return isAnyOf(value, NOT_CASTABLE) ? Optional.empty() : StructOperations.convert(value, type);
  }

  private static boolean isAnyOf(final SymbolicValue value, final Pattern types) {
    return value instanceof final Leaf leaf
        && leaf.type() != null
        && types.matcher(leaf.type()).lookingAt();
  }

  /** {@code MaskField}: replaces values by a constant. Fails on a null key or value. */
  static SymbolicTransform maskField(final Side side, final ConnectorOptions options) {
    final List<String> names = options.list("fields");
    return SymbolicTransform.onRequiredStruct(
        side,
        struct -> {
          Optional<StructValue> changed = Optional.of(struct);
          for (final String name : names) {
            changed =
                changed.flatMap(t -> StructOperations.replace(t, name, FieldTransforms::masked));
          }
          return changed;
        });
  }

  /** Return a value from which the original cannot be recovered. */
  static Optional<SymbolicValue> masked(final SymbolicValue value) {
    return StructOperations.derive(value, null, Contribution::masked);
  }

  /** {@code TimestampConverter}: converts the entire key or value, or one field. */
  static SymbolicTransform timestampConverter(final Side side, final ConnectorOptions options) {
    final String type = TIMESTAMP_TYPES.get(options.required("target.type"));
    if (type == null) {
      throw new UnusableOptionException("the value of 'target.type' is not supported");
    }
    final Optional<String> field = options.text("field");
    return field
        .map(
            name ->
                SymbolicTransform.onStruct(
                    side, struct -> StructOperations.replace(struct, name, old -> time(old, type))))
        .orElse(
            record -> SymbolicTransform.replaceSide(record, side, time(record.side(side), type)));
  }

  private static Optional<SymbolicValue> time(final SymbolicValue value, final String type) {
    return isAnyOf(value, NOT_A_TIME) ? Optional.empty() : StructOperations.convert(value, type);
  }
}
