// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.SymbolicRecord.Side;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** What a transform does, as a function on what is known of records. */
@FunctionalInterface
interface SymbolicTransform {
  /**
   * Changes a record.
   *
   * @return what may become of it; more than one where that depends on the record, nothing where it
   *     is dropped, or the transform fails on it
   */
  List<SymbolicRecord> apply(SymbolicRecord record);

  /** This one or another: which of them it is cannot be told. */
  default SymbolicTransform orElse(final SymbolicTransform other) {
    return record ->
        Stream.concat(apply(record).stream(), other.apply(record).stream()).distinct().toList();
  }

  /** One that changes a key or value which must be a struct, and passes on where there is none. */
  static SymbolicTransform onStruct(
      final Side side,
      final Function<SymbolicValue.StructValue, Optional<? extends SymbolicValue>> change) {
    return record ->
        record.side(side) instanceof SymbolicValue.Absent
            ? List.of(record)
            : changed(record, side, StructOperations.change(record.side(side), change));
  }

  /** The same, which fails where there is none. */
  static SymbolicTransform onPresentStruct(
      final Side side,
      final Function<SymbolicValue.StructValue, Optional<? extends SymbolicValue>> change) {
    return record -> changed(record, side, StructOperations.change(record.side(side), change));
  }

  /** A record with a key or value in place of the old one; nothing if there is no new one. */
  static List<SymbolicRecord> changed(
      final SymbolicRecord record, final Side side, final Optional<? extends SymbolicValue> shape) {
    return shape.map(found -> record.with(side, found)).stream().toList();
  }
}
