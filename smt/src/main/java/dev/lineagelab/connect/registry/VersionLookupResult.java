// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.model.RegisteredSchema;

/**
 * What is known by now of a topic's schema in the registry.
 *
 * @param schema null if nothing is
 * @param note why not, as a sentence for people; null if that is not settled yet
 * @param isPending whether it may well be known in a moment
 */
record VersionLookupResult(RegisteredSchema schema, String note, boolean isPending) {
  /** It was asked for just now. */
  static final VersionLookupResult PENDING = new VersionLookupResult(null, null, true);

  /** It is asked for again and again; nobody should wait for it. */
  static final VersionLookupResult LATE = new VersionLookupResult(null, null, false);

  static VersionLookupResult of(final RegisteredSchema schema) {
    return new VersionLookupResult(schema, null, false);
  }

  static VersionLookupResult none(final String note) {
    return new VersionLookupResult(null, note, false);
  }
}
