// SPDX-License-Identifier: Apache-2.0

/** Column lineage model and its composition rules. Independent of Flink and Calcite. */
package dev.lineagelab.flink.sql.model;
