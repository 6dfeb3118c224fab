// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import java.util.List;

/**
 * What a resolver found.
 *
 * @param notes what it could not find and why, in sentences for people
 */
public record Resolved<T>(List<T> found, List<String> notes) {
  public Resolved {
    found = List.copyOf(found);
    notes = List.copyOf(notes);
  }

  /** Nothing, and nothing to say of it. */
  public static <T> Resolved<T> none() {
    return new Resolved<>(List.of(), List.of());
  }

  /** All that there is. */
  public static <T> Resolved<T> of(final List<T> found) {
    return new Resolved<>(found, List.of());
  }

  /** Nothing, for a reason. */
  public static <T> Resolved<T> because(final String note) {
    return new Resolved<>(List.of(), List.of(note));
  }
}
