// SPDX-License-Identifier: Apache-2.0

/** The vocabulary of column lineage, and how it composes. No Flink, no Calcite. */
package dev.lineagelab.flink.sql.model;
