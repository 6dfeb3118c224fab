// SPDX-License-Identifier: Apache-2.0

/**
 * From the planner's relational tree to column lineage.
 *
 * <p>The tree is read as the parser and validator leave it: names and types are resolved, views and
 * common table expressions are expanded, and the optimiser has not yet folded, pruned or fused
 * anything of what the user wrote.
 */
package dev.lineagelab.flink.sql.plan;
