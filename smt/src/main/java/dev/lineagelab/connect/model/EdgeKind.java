// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

/** Kind of a column dependency, a subtype of an OpenLineage transformation. */
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
   * Return true if the value flows into the column; false if it only affects rows or other values.
   */
  public boolean isDirect() {
    return direct;
  }
}
