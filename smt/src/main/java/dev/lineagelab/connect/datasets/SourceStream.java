// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.Origin;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.model.Dataset;
import java.util.Optional;
import java.util.function.Function;

/**
 * Records that a source makes of one dataset.
 *
 * @param dataset null if the input has no name
 * @param record as the connector creates it, before any transform
 * @param columns input column of an origin; empty if it is not a column
 * @param isSoleStream true if the connector has no other stream, so that every topic belongs to it
 */
public record SourceStream(
    Dataset dataset,
    SymbolicRecord record,
    Function<Origin, Optional<InputColumn>> columns,
    boolean isSoleStream) {

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
