// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.List;
import java.util.Objects;

/**
 * Column, or field of a struct.
 *
 * @param type as in the schema facet; null if unknown
 * @param description null if there is none
 * @param fields of a struct; empty for any other type
 */
public record Field(String name, String type, String description, List<Field> fields) {
  public Field {
    Objects.requireNonNull(name, "name");
    fields = List.copyOf(fields);
  }

  /** Return a field without nested fields. */
  public static Field of(final String name, final String type) {
    return new Field(name, type, null, List.of());
  }
}
