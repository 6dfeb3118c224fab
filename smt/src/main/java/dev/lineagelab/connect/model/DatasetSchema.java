// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.List;

/**
 * The columns of a dataset as they were seen.
 *
 * @param registered where in the registry they are; null if unknown, or if there is none
 * @param version that the schema itself says it is; null if it does not
 * @param fields in the schema's order
 */
public record DatasetSchema(RegisteredSchema registered, Integer version, List<Field> fields) {
  public DatasetSchema {
    fields = List.copyOf(fields);
  }
}
