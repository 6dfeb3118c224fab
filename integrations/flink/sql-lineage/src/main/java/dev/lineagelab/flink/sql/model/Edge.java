// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.model;

import java.util.Collection;
import java.util.Comparator;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * A column of a source reaches an output column, or decides about all rows.
 *
 * @param masking whether the value cannot be read back from the output (hashes, counts)
 */
public record Edge(Origin origin, Subtype subtype, boolean masking) implements Comparable<Edge> {
  private static final Comparator<Edge> ORDER =
      Comparator.comparing(Edge::origin).thenComparing(Edge::subtype).thenComparing(Edge::masking);

  /** The same edge after one more direct step. What was indirect stays as it is. */
  public Edge through(final Subtype step, final boolean masks) {
    return subtype.isDirect() ? new Edge(origin, subtype.strongest(step), masking || masks) : this;
  }

  /**
   * One direct edge for each origin, the strongest; masking only where every way masks. Indirect
   * edges stay side by side.
   */
  public static SortedSet<Edge> simplest(final Collection<Edge> edges) {
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
