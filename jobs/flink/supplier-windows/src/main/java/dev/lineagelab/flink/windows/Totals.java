// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

/**
 * What a window knows of its orders so far.
 *
 * @param count orders
 * @param cents sum of their prices, in hundredths
 */
public record Totals(long count, long cents) {
  static final Totals NONE = new Totals(0, 0);

  /** With more orders. A sum that no long can hold is an error, not another sum. */
  Totals plus(final long orders, final long price) {
    return new Totals(count + orders, Math.addExact(cents, price));
  }
}
