// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.model;

/** OpenLineage's transformation subtypes. The direct ones come first, from weakest to strongest. */
public enum Subtype {
  IDENTITY,
  TRANSFORMATION,
  AGGREGATION,
  JOIN,
  GROUP_BY,
  FILTER,
  SORT,
  WINDOW,
  CONDITIONAL;

  /** Returns whether values of the input flow into the output. */
  public boolean isDirect() {
    return compareTo(AGGREGATION) <= 0;
  }

  /** Returns the stronger of two direct subtypes. */
  Subtype strongest(final Subtype other) {
    return compareTo(other) >= 0 ? this : other;
  }
}
