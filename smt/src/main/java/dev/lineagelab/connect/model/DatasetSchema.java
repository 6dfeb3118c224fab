// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.List;

/**
 * Columns of a dataset.
 *
 * @param registered version in the schema registry; null if unknown, or if there is no registry
 * @param version that the Connect schema carries; null if it has none
 * @param fields in schema order
 */
public record DatasetSchema(RegisteredSchema registered, Integer version, List<Field> fields) {
  public DatasetSchema {
    fields = List.copyOf(fields);
  }
}
