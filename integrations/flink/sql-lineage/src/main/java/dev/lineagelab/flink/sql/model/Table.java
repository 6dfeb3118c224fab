// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.model;

import java.util.List;
import java.util.Map;

/**
 * A table as a script knows it.
 *
 * @param path catalog, database and name
 * @param connector {@code kafka}; null where the catalog alone says
 * @param options those that tell which physical dataset it is; no secrets
 * @param primaryKey its columns; empty where it has none
 * @param location of an Iceberg table, as its catalog has it; null where that is not known
 */
public record Table(
    List<String> path,
    String connector,
    Map<String, String> options,
    List<String> primaryKey,
    String location,
    List<Field> fields) {
  public Table {
    path = List.copyOf(path);
    primaryKey = List.copyOf(primaryKey);
    fields = List.copyOf(fields);
  }
}
