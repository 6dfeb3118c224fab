// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.Contribution;
import dev.lineagelab.connect.columns.SymbolicValue;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.Symlink;
import java.util.List;
import java.util.Set;

/**
 * Dataset to which a sink writes a record.
 *
 * @param symlinks other names of the dataset
 * @param columns content of the record in the dataset
 * @param hasSchema true if the dataset has exactly these columns, with these types
 * @param filters contributions that decided on this target
 * @param fixedTable name in its catalog of a table whose columns the sink does not change; null for
 *     any other dataset
 */
public record SinkTarget(
    Dataset dataset,
    List<Symlink> symlinks,
    SymbolicValue columns,
    boolean hasSchema,
    Set<Contribution> filters,
    String fixedTable) {
  /** Return the target of all records; the dataset may have further columns. */
  public static SinkTarget of(final Dataset dataset, final SymbolicValue columns) {
    return new SinkTarget(dataset, List.of(), columns, false, Set.of(), null);
  }
}
