// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.model;

/** Column of the sink table, with its lineage. */
public record Output(String name, Column column) {}
