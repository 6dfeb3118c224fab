// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.model;

import java.util.List;
import java.util.Map;

/**
 * Table that a script reads or writes.
 *
 * @param path catalog, database and name
 * @param connector value of the connector option, such as {@code kafka}; null if the catalog
 *     determines it
 * @param options options that identify the physical dataset, without secrets
 * @param primaryKey columns of the primary key; empty if there is none
 * @param location location of an Iceberg table from its catalog; null if unknown
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
