// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import java.util.List;

/**
 * What a resolver found.
 *
 * @param notes what it could not find and why, in sentences for people
 */
public record Resolution<T>(List<T> found, List<String> notes) {
  public Resolution {
    found = List.copyOf(found);
    notes = List.copyOf(notes);
  }

  /** Nothing, and nothing to say of it. */
  public static <T> Resolution<T> none() {
    return new Resolution<>(List.of(), List.of());
  }

  /** All that there is. */
  public static <T> Resolution<T> of(final List<T> found) {
    return new Resolution<>(found, List.of());
  }

  /** Nothing, for a reason. */
  public static <T> Resolution<T> because(final String note) {
    return new Resolution<>(List.of(), List.of(note));
  }
}
