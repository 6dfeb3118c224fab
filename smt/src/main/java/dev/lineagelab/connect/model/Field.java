// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.List;
import java.util.Objects;

/**
 * A column, or a field within one.
 *
 * @param type as the schema facet shows it; null if unknown
 * @param description null if there is none
 * @param fields those of a struct; empty for anything else
 */
public record Field(String name, String type, String description, List<Field> fields) {
  public Field {
    Objects.requireNonNull(name, "name");
    fields = List.copyOf(fields);
  }

  /** A field without fields of its own. */
  public static Field of(final String name, final String type) {
    return new Field(name, type, null, List.of());
  }
}
