// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.model;

/** A column of the table that is written, and what it is made of. */
public record Output(String name, Column column) {}
