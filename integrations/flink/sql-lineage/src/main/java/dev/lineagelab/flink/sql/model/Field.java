// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.model;

/**
 * A column of a table as its catalog has it.
 *
 * @param type in Flink's words, {@code DECIMAL(10, 2)}
 * @param kind whether it is stored, computed, or metadata of the connector
 * @param metadataKey the connector's name for metadata; null for all else
 */
public record Field(String name, String type, Kind kind, String metadataKey) {
  /** Where the values of a column are. */
  public enum Kind {
    PHYSICAL,
    COMPUTED,
    METADATA
  }
}
