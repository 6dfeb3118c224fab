// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.model;

import java.util.List;

/**
 * Lineage of one INSERT.
 *
 * @param sources tables that the query reads; {@link Origin#source} is an index into this list
 * @param outputs columns that it writes, in the table's order
 * @param rows indirect dependencies of all rows, and therefore of every column
 */
public record Write(
    Table sink, boolean overwrite, List<Table> sources, List<Output> outputs, Column rows) {
  public Write {
    sources = List.copyOf(sources);
    outputs = List.copyOf(outputs);
  }
}
