// SPDX-License-Identifier: Apache-2.0
/**
 * Follows columns through a connector's transform chain without running it.
 *
 * <p>A record is a {@link dev.lineagelab.connect.columns.SymbolicRecord}: the {@link
 * dev.lineagelab.connect.columns.Shape} of its key and of its value, whose leaves say what part of
 * the record at the start of the chain they come from. Each transform that is known is a function
 * from such a record to those that may come out of it. Nothing of a schema has to be known: "all
 * other fields pass through" is a shape too. What a transform does that is not known is unknown; it
 * is never guessed.
 */
package dev.lineagelab.connect.columns;
