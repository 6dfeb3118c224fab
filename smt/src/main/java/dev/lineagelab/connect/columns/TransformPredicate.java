// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.model.EdgeKind;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * A predicate: when its transform is applied.
 *
 * @param test what it says of a record
 * @param dependsOn what of a record's content it looks at
 */
record TransformPredicate(
    Function<SymbolicRecord, Outcome> test, Optional<Contribution> dependsOn) {
  private static final String KAFKA = "org.apache.kafka.connect.transforms.predicates.";

  /** The condition of a transform that has none. */
  static final TransformPredicate ALWAYS =
      new TransformPredicate(Outcome::always, Optional.empty());

  /**
   * What a predicate says. Where it may say either, both records that there may be.
   *
   * @param met records of which it is true
   * @param unmet those of which it is not
   */
  record Outcome(List<SymbolicRecord> met, List<SymbolicRecord> unmet) {
    static Outcome always(final SymbolicRecord record) {
      return new Outcome(List.of(record), List.of());
    }

    static Outcome never(final SymbolicRecord record) {
      return new Outcome(List.of(), List.of(record));
    }

    static Outcome either(final SymbolicRecord record) {
      return new Outcome(List.of(record), List.of(record));
    }

    Outcome negated() {
      return new Outcome(unmet, met);
    }

    boolean isDecided() {
      return met.isEmpty() || unmet.isEmpty();
    }
  }

  /**
   * Reads a predicate.
   *
   * @param options its own
   */
  static TransformPredicate of(final String name, final ConnectorOptions options) {
    try {
      final String type = options.required("type");
      return switch (type.contains(".") ? type : KAFKA + type) {
        case KAFKA + "TopicNameMatches" ->
            topicNameMatches(BoundedRegex.of(options.required("pattern")));
        case KAFKA + "HasHeaderKey" -> hasHeaderKey(options.required("name"));
        case KAFKA + "RecordIsTombstone" ->
            new TransformPredicate(TransformPredicate::recordIsTombstone, Optional.empty());
        default -> unknown("What predicate '" + name + "' (" + type + ") depends on is not known.");
      };
    } catch (final UnusableOptionException e) {
      return unknown("What predicate '" + name + "' says is not known: " + e.getMessage() + ".");
    }
  }

  /** The same, true where this one is not. */
  TransformPredicate negated() {
    return new TransformPredicate(test.andThen(Outcome::negated), dependsOn);
  }

  private static TransformPredicate topicNameMatches(final BoundedRegex pattern) {
    return new TransformPredicate(
        record -> {
          if (record.topic() instanceof final TopicName.Known known) {
            return pattern.matches(known.name()) ? Outcome.always(record) : Outcome.never(record);
          }
          return Outcome.either(record);
        },
        Optional.empty());
  }

  private static TransformPredicate hasHeaderKey(final String name) {
    final Origin header = Origin.of(Part.HEADERS).child(name);
    return new TransformPredicate(
        record -> {
          final Boolean known = record.headers().get(name);
          if (known != null) {
            return known ? Outcome.always(record) : Outcome.never(record);
          }
          return new Outcome(
              List.of(record.withHeader(name, true)), List.of(record.withHeader(name, false)));
        },
        Optional.of(new Contribution(header, EdgeKind.FILTER, false)));
  }

  private static Outcome recordIsTombstone(final SymbolicRecord record) {
    final boolean isAbsent = record.value() instanceof SymbolicValue.Absent;
    if (isAbsent || record.tombstone() != null) {
      return isAbsent || record.tombstone() ? Outcome.always(record) : Outcome.never(record);
    }
    return new Outcome(
        List.of(record.withValue(SymbolicValue.ABSENT, true)),
        List.of(record.withValue(record.value(), false)));
  }

  private static TransformPredicate unknown(final String reason) {
    return new TransformPredicate(
        record -> Outcome.either(record.noting(reason)), Optional.empty());
  }
}
