// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.model;

import java.util.Collection;
import java.util.Comparator;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Dependency of an output column, or of all rows, on a column of a source.
 *
 * @param masking whether the output does not reveal the input value (hashes, counts)
 */
public record Edge(Origin origin, Subtype subtype, boolean masking) implements Comparable<Edge> {
  private static final Comparator<Edge> ORDER =
      Comparator.comparing(Edge::origin).thenComparing(Edge::subtype).thenComparing(Edge::masking);

  /** Returns this edge extended by a direct step. Indirect edges are unchanged. */
  public Edge derive(final Subtype step, final boolean masks) {
    return subtype.isDirect() ? new Edge(origin, subtype.strongest(step), masking || masks) : this;
  }

  /**
   * Reduces the direct edges to one for each origin: the strongest subtype, masking only if all
   * edges mask. Indirect edges are kept as they are.
   */
  public static SortedSet<Edge> simplify(final Collection<Edge> edges) {
    final TreeMap<Origin, Edge> direct = new TreeMap<>();
    final SortedSet<Edge> found = new TreeSet<>();
    for (final Edge edge : edges) {
      if (edge.subtype().isDirect()) {
        direct.merge(edge.origin(), edge, Edge::merged);
      } else {
        found.add(edge);
      }
    }
    found.addAll(direct.values());
    return found;
  }

  private Edge merged(final Edge other) {
    return new Edge(origin, subtype.strongest(other.subtype), masking && other.masking);
  }

  @Override
  public int compareTo(final Edge other) {
    return ORDER.compare(this, other);
  }
}
