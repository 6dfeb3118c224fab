// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.Objects;

/** Data flow from an input to an output dataset, with its column lineage. */
public record DatasetPair(Dataset input, Dataset output, ColumnLineage columns) {
  public DatasetPair {
    Objects.requireNonNull(input, "input");
    Objects.requireNonNull(output, "output");
    Objects.requireNonNull(columns, "columns");
  }
}
