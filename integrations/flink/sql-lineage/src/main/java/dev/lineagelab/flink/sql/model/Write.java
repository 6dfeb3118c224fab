// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.model;

import java.util.List;

/**
 * One INSERT.
 *
 * @param sources what the query reads; {@link Origin#source} counts them
 * @param outputs the columns that it fills, in the table's order
 * @param rows what decides about rows, and so about every column
 */
public record Write(
    Table sink, boolean overwrite, List<Table> sources, List<Output> outputs, Column rows) {
  public Write {
    sources = List.copyOf(sources);
    outputs = List.copyOf(outputs);
  }
}
