// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.model;

/**
 * How an input column reaches an output: OpenLineage's subtypes. The direct ones come first, from
 * weakest to strongest.
 */
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

  /** Whether values flow; otherwise the column only decides about values or rows. */
  public boolean isDirect() {
    return compareTo(AGGREGATION) <= 0;
  }

  /** The stronger one of two that are direct. */
  Subtype strongest(final Subtype other) {
    return compareTo(other) >= 0 ? this : other;
  }
}
