// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

/**
 * Result of looking up a table so far.
 *
 * @param columns null unless the table was found
 * @param note why they are unknown; null if they are known, or still looked up
 * @param exists false if the catalog says that the table does not exist
 */
record TableLookupResult(TableColumns columns, String note, boolean exists) {
  /** The lookup has just started. */
  static final TableLookupResult PENDING = new TableLookupResult(null, null, true);

  /** The catalog does not have the table. */
  static final TableLookupResult MISSING = new TableLookupResult(null, null, false);

  static TableLookupResult of(final TableColumns columns) {
    return new TableLookupResult(columns, null, true);
  }

  static TableLookupResult unknown(final String note) {
    return new TableLookupResult(null, note, true);
  }

  boolean isPending() {
    return this.equals(PENDING);
  }
}
