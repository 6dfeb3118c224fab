// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

/**
 * Accumulator of a window.
 *
 * @param count number of orders
 * @param cents sum of their prices, in hundredths
 */
public record Totals(long count, long cents) {
  static final Totals NONE = new Totals(0, 0);

  /** Returns the totals with more orders added. Throws on overflow of the sum. */
  Totals plus(final long orders, final long price) {
    return new Totals(count + orders, Math.addExact(cents, price));
  }
}
