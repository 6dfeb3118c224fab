// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.model.EdgeKind;
import java.util.Comparator;

/**
 * Part of the input record that contributes to a value.
 *
 * @param masking true if the part cannot be recovered from the value
 */
public record Contribution(Origin origin, EdgeKind kind, boolean masking)
    implements Comparable<Contribution> {
  private static final Comparator<Contribution> ORDER =
      Comparator.comparing(Contribution::origin)
          .thenComparing(Contribution::kind)
          .thenComparing(Contribution::masking);

  /** The value is an unchanged copy of the origin. */
  public static Contribution identity(final Origin origin) {
    return new Contribution(origin, EdgeKind.IDENTITY, false);
  }

  /** The same contribution after a computation on the value. */
  public Contribution transformed() {
    return kind == EdgeKind.IDENTITY
        ? new Contribution(origin, EdgeKind.TRANSFORMATION, masking)
        : this;
  }

  /** The same contribution after the value was masked. */
  public Contribution masked() {
    return new Contribution(origin, transformed().kind, true);
  }

  @Override
  public int compareTo(final Contribution other) {
    return ORDER.compare(this, other);
  }
}
