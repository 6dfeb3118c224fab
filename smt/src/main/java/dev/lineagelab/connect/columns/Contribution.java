// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.model.EdgeKind;
import java.util.Comparator;

/**
 * A part of the record at the start of the chain from which a value is made.
 *
 * @param masking whether the part cannot be told from the value
 */
public record Contribution(Origin origin, EdgeKind kind, boolean masking)
    implements Comparable<Contribution> {
  private static final Comparator<Contribution> ORDER =
      Comparator.comparing(Contribution::origin)
          .thenComparing(Contribution::kind)
          .thenComparing(Contribution::masking);

  /** The value is that part, unchanged. */
  public static Contribution identity(final Origin origin) {
    return new Contribution(origin, EdgeKind.IDENTITY, false);
  }

  /** The same after something was computed from the value. */
  public Contribution transformed() {
    return kind == EdgeKind.IDENTITY
        ? new Contribution(origin, EdgeKind.TRANSFORMATION, masking)
        : this;
  }

  /** The same after the value was replaced by one that does not tell it. */
  public Contribution masked() {
    return new Contribution(origin, transformed().kind, true);
  }

  @Override
  public int compareTo(final Contribution other) {
    return ORDER.compare(this, other);
  }
}
