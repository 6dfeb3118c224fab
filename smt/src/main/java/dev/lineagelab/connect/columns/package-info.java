// SPDX-License-Identifier: Apache-2.0
/**
 * Traces columns through a connector's transform chain without running it.
 *
 * <p>A record is a {@link dev.lineagelab.connect.columns.SymbolicRecord}; its key and value are
 * {@link dev.lineagelab.connect.columns.SymbolicValue}s, whose leaves name the parts of the input
 * record from which they are made. Each supported transform is a function from one symbolic record
 * to the possible results. Schemas may be unknown: "all other fields pass through" is a symbolic
 * value too. Results of unsupported transforms are unknown; nothing is guessed.
 */
package dev.lineagelab.connect.columns;
