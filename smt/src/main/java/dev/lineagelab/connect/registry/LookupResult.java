// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

/**
 * Result of a lookup so far.
 *
 * @param value null unless it was found
 * @param note why it is unknown; null if it is known, or still looked up
 * @param exists false if the service says that there is none
 */
record LookupResult<V>(V value, String note, boolean exists) {
  /** The lookup has just started. */
  static <V> LookupResult<V> pending() {
    return new LookupResult<>(null, null, true);
  }

  /** The service says that there is none. */
  static <V> LookupResult<V> missing() {
    return new LookupResult<>(null, null, false);
  }

  static <V> LookupResult<V> of(final V value) {
    return new LookupResult<>(value, null, true);
  }

  static <V> LookupResult<V> unknown(final String note) {
    return new LookupResult<>(null, note, true);
  }

  boolean isPending() {
    return exists && value == null && note == null;
  }
}
