// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.model;

/**
 * Column of a table, as defined in its catalog.
 *
 * @param type Flink SQL type, such as {@code DECIMAL(10, 2)}
 * @param kind physical, computed, or connector metadata
 * @param metadataKey key of the connector metadata; null for other kinds
 */
public record Field(String name, String type, Kind kind, String metadataKey) {
  /** Kind of a column, as in Flink's table schema. */
  public enum Kind {
    PHYSICAL,
    COMPUTED,
    METADATA
  }
}
