// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.Origin;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.model.Dataset;
import java.util.Optional;
import java.util.function.Function;

/**
 * What a source reads of one dataset.
 *
 * @param dataset null if it is none that has a name
 * @param record as the connector makes it, before any transform
 * @param columns what part of the record is which column; empty for what is no column
 * @param isOnly whether the connector reads nothing else: then every topic comes from it
 */
public record SourceStream(
    Dataset dataset,
    SymbolicRecord record,
    Function<Origin, Optional<InputColumn>> columns,
    boolean isOnly) {

  /**
   * A column as it is in the record.
   *
   * @param masked whether the connector hides its values
   */
  public record InputColumn(String name, boolean masked) {
    /** A column that is read as it is. */
    public static InputColumn of(final String name) {
      return new InputColumn(name, false);
    }
  }
}
