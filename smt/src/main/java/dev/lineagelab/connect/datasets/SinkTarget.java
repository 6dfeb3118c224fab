// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.Contribution;
import dev.lineagelab.connect.columns.SymbolicValue;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.Symlink;
import java.util.List;
import java.util.Set;

/**
 * Where a sink puts a record.
 *
 * @param symlinks other names of the dataset
 * @param columns what the record becomes there
 * @param hasSchema whether the columns are all that the dataset has, with their types
 * @param filters on what it depends that the record comes here
 */
public record SinkTarget(
    Dataset dataset,
    List<Symlink> symlinks,
    SymbolicValue columns,
    boolean hasSchema,
    Set<Contribution> filters) {
  /** One place for all records, of which only the columns are known that records bring. */
  public static SinkTarget of(final Dataset dataset, final SymbolicValue columns) {
    return new SinkTarget(dataset, List.of(), columns, false, Set.of());
  }
}
