// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.SymbolicRecord.Side;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** Model of a transform: a function on symbolic records. */
@FunctionalInterface
interface SymbolicTransform {
  /**
   * Apply the transform to a record.
   *
   * @return possible results: several if they depend on the record, none if it is dropped or the
   *     transform fails
   */
  List<SymbolicRecord> apply(SymbolicRecord record);

  /** Return the union of two transforms, where it is unknown which of them runs. */
  default SymbolicTransform or(final SymbolicTransform other) {
    return record ->
        Stream.concat(apply(record).stream(), other.apply(record).stream()).distinct().toList();
  }

  /** Return a transform of a key or value that must be a struct; null passes unchanged. */
  static SymbolicTransform onStruct(
      final Side side,
      final Function<SymbolicValue.StructValue, Optional<? extends SymbolicValue>> change) {
    return record ->
        record.side(side) instanceof SymbolicValue.Absent
            ? List.of(record)
            : replaceSide(record, side, StructOperations.transform(record.side(side), change));
  }

  /** Return a transform of a key or value that must be a struct; fails on null. */
  static SymbolicTransform onRequiredStruct(
      final Side side,
      final Function<SymbolicValue.StructValue, Optional<? extends SymbolicValue>> change) {
    return record ->
        replaceSide(record, side, StructOperations.transform(record.side(side), change));
  }

  /** Return the record with a new key or value; none if the new value is empty. */
  static List<SymbolicRecord> replaceSide(
      final SymbolicRecord record, final Side side, final Optional<? extends SymbolicValue> value) {
    return value.map(found -> record.withSide(side, found)).stream().toList();
  }
}
