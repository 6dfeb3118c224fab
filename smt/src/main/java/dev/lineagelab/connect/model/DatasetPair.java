// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.Objects;

/** Data of {@code input} reaches {@code output}. */
public record DatasetPair(Dataset input, Dataset output, ColumnLineage columns) {
  public DatasetPair {
    Objects.requireNonNull(input, "input");
    Objects.requireNonNull(output, "output");
    Objects.requireNonNull(columns, "columns");
  }
}
