// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.model.RegisteredSchema;

/**
 * Result of a version lookup so far.
 *
 * @param schema null if not found
 * @param note why it was not found, as a sentence for users; null while attempts continue
 * @param isPending true if it is likely to be found soon
 */
record VersionLookupResult(RegisteredSchema schema, String note, boolean isPending) {
  /** The lookup has just started. */
  static final VersionLookupResult PENDING = new VersionLookupResult(null, null, true);

  /** The lookup is retried, but events no longer wait for it. */
  static final VersionLookupResult OVERDUE = new VersionLookupResult(null, null, false);

  static VersionLookupResult of(final RegisteredSchema schema) {
    return new VersionLookupResult(schema, null, false);
  }

  static VersionLookupResult none(final String note) {
    return new VersionLookupResult(null, note, false);
  }
}
