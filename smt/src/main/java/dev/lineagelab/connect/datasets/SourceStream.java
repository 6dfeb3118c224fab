// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.Origin;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.ObservedTopic;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Records that a source makes of one dataset.
 *
 * @param dataset null if the input has no name
 * @param record as the connector creates it, before any transform
 * @param columns input column of an origin; empty if it is not a column
 * @param isSoleStream true if the connector has no other stream, so that every topic belongs to it
 * @param carries whether an observed record may be part of the stream, by its schemas
 */
public record SourceStream(
    Dataset dataset,
    SymbolicRecord record,
    Function<Origin, Optional<InputColumn>> columns,
    boolean isSoleStream,
    Predicate<ObservedTopic> carries) {
  /** Create a stream of which any observed record may be part. */
  public SourceStream(
      final Dataset dataset,
      final SymbolicRecord record,
      final Function<Origin, Optional<InputColumn>> columns,
      final boolean isSoleStream) {
    this(dataset, record, columns, isSoleStream, topic -> true);
  }

  /** Return a copy of which only these observed records may be part. */
  SourceStream carrying(final Predicate<ObservedTopic> some) {
    return new SourceStream(dataset, record, columns, isSoleStream, some);
  }

  /**
   * Column of the input dataset.
   *
   * @param masked true if the connector masks its values
   */
  public record InputColumn(String name, boolean masked) {
    /** Return an unmasked column. */
    public static InputColumn of(final String name) {
      return new InputColumn(name, false);
    }
  }
}
