// SPDX-License-Identifier: Apache-2.0

/**
 * Derivation of column lineage from the planner's relational tree.
 *
 * <p>The input is the tree after validation and before optimization: names and types are resolved,
 * views and common table expressions are expanded, and no expression has been folded, pruned or
 * fused.
 */
package dev.lineagelab.flink.sql.plan;
