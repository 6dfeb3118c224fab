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
record Condition(Function<RecordState, Outcome> test, Optional<Contribution> dependsOn) {
  private static final String KAFKA = "org.apache.kafka.connect.transforms.predicates.";

  /** The condition of a transform that has none. */
  static final Condition ALWAYS = new Condition(Outcome::always, Optional.empty());

  /**
   * What a predicate says. Where it may say either, both records that there may be.
   *
   * @param met records of which it is true
   * @param unmet those of which it is not
   */
  record Outcome(List<RecordState> met, List<RecordState> unmet) {
    static Outcome always(final RecordState record) {
      return new Outcome(List.of(record), List.of());
    }

    static Outcome never(final RecordState record) {
      return new Outcome(List.of(), List.of(record));
    }

    static Outcome either(final RecordState record) {
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
  static Condition of(final String name, final Options options) {
    try {
      final String type = options.required("type");
      return switch (type.contains(".") ? type : KAFKA + type) {
        case KAFKA + "TopicNameMatches" -> topicNameMatches(Regex.of(options.required("pattern")));
        case KAFKA + "HasHeaderKey" -> hasHeaderKey(options.required("name"));
        case KAFKA + "RecordIsTombstone" ->
            new Condition(Condition::recordIsTombstone, Optional.empty());
        default -> unknown("What predicate '" + name + "' (" + type + ") depends on is not known.");
      };
    } catch (final UnusableOptionException e) {
      return unknown("What predicate '" + name + "' says is not known: " + e.getMessage() + ".");
    }
  }

  /** The same, true where this one is not. */
  Condition negated() {
    return new Condition(test.andThen(Outcome::negated), dependsOn);
  }

  private static Condition topicNameMatches(final Regex pattern) {
    return new Condition(
        record -> {
          if (record.topic() instanceof final TopicName.Known known) {
            return pattern.matches(known.name()) ? Outcome.always(record) : Outcome.never(record);
          }
          return Outcome.either(record);
        },
        Optional.empty());
  }

  private static Condition hasHeaderKey(final String name) {
    final Origin header = Origin.of(Part.HEADERS).child(name);
    return new Condition(
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

  private static Outcome recordIsTombstone(final RecordState record) {
    final boolean isAbsent = record.value() instanceof Shape.Absent;
    if (isAbsent || record.tombstone() != null) {
      return isAbsent || record.tombstone() ? Outcome.always(record) : Outcome.never(record);
    }
    return new Outcome(
        List.of(record.withValue(Shape.ABSENT, true)),
        List.of(record.withValue(record.value(), false)));
  }

  private static Condition unknown(final String reason) {
    return new Condition(record -> Outcome.either(record.noting(reason)), Optional.empty());
  }
}
