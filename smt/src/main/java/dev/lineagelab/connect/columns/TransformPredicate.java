// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.model.EdgeKind;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Kafka Connect predicate, which decides whether a transform is applied.
 *
 * @param evaluate outcome for a record
 * @param dependsOn part of the record's content that the predicate reads
 */
record TransformPredicate(
    Function<SymbolicRecord, Outcome> evaluate, Optional<Contribution> dependsOn) {
  private static final String KAFKA = "org.apache.kafka.connect.transforms.predicates.";

  /** Predicate of a transform without one. */
  static final TransformPredicate ALWAYS =
      new TransformPredicate(Outcome::always, Optional.empty());

  /**
   * Outcome of a predicate; an undecided predicate returns the record on both sides.
   *
   * @param satisfied records for which the predicate holds
   * @param unsatisfied records for which it does not
   */
  record Outcome(List<SymbolicRecord> satisfied, List<SymbolicRecord> unsatisfied) {
    static Outcome always(final SymbolicRecord record) {
      return new Outcome(List.of(record), List.of());
    }

    static Outcome never(final SymbolicRecord record) {
      return new Outcome(List.of(), List.of(record));
    }

    static Outcome oneOf(final SymbolicRecord record) {
      return new Outcome(List.of(record), List.of(record));
    }

    Outcome negated() {
      return new Outcome(unsatisfied, satisfied);
    }

    boolean isDecided() {
      return satisfied.isEmpty() || unsatisfied.isEmpty();
    }
  }

  /**
   * Read a predicate.
   *
   * @param options the predicate's own
   */
  static TransformPredicate parse(final String name, final ConnectorOptions options) {
    try {
      final String type = options.required("type");
      return switch (type.contains(".") ? type : KAFKA + type) {
        case KAFKA + "TopicNameMatches" ->
            topicNameMatches(BoundedRegex.of(options.required("pattern")));
        case KAFKA + "HasHeaderKey" -> hasHeaderKey(options.required("name"));
        case KAFKA + "RecordIsTombstone" ->
            new TransformPredicate(TransformPredicate::recordIsTombstone, Optional.empty());
        default ->
            unknown("The class of predicate '" + name + "' (" + type + ") is not supported.");
      };
    } catch (final UnusableOptionException e) {
      return unknown("Predicate '" + name + "' is unusable: " + e.getMessage() + ".");
    }
  }

  /** Return the negated predicate. */
  TransformPredicate negated() {
    return new TransformPredicate(evaluate.andThen(Outcome::negated), dependsOn);
  }

  private static TransformPredicate topicNameMatches(final BoundedRegex pattern) {
    return new TransformPredicate(
        record -> {
          if (record.topic() instanceof final TopicName.Known known) {
            return pattern.matches(known.name()) ? Outcome.always(record) : Outcome.never(record);
          }
          return Outcome.oneOf(record);
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
        record -> Outcome.oneOf(record.withReason(reason)), Optional.empty());
  }
}
