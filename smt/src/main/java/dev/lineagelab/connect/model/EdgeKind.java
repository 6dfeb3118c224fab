// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

/** How a column depends on another: the subtypes of OpenLineage's transformations. */
public enum EdgeKind {
  IDENTITY(true),
  TRANSFORMATION(true),
  AGGREGATION(true),
  JOIN(false),
  GROUP_BY(false),
  FILTER(false),
  SORT(false),
  WINDOW(false),
  CONDITIONAL(false);

  private final boolean direct;

  EdgeKind(final boolean direct) {
    this.direct = direct;
  }

  /**
   * Whether the value goes into the column; otherwise it only decides on rows or on other values.
   */
  public boolean isDirect() {
    return direct;
  }
}
