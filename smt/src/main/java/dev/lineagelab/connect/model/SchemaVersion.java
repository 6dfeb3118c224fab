// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.List;

/**
 * The columns of a dataset as they were seen.
 *
 * @param id the registry's id of the schema; null if unknown
 * @param version the registry's version of the subject; null if unknown
 * @param fields in the schema's order
 */
public record SchemaVersion(String id, Integer version, List<Field> fields) {
  public SchemaVersion {
    fields = List.copyOf(fields);
  }
}
