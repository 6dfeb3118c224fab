// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.math.BigDecimal;

/**
 * Count and total price of a supplier's orders in one window.
 *
 * @param supplier name of the supplier
 * @param start start of the window (inclusive), in milliseconds since the epoch
 * @param end end of the window (exclusive), in milliseconds since the epoch
 * @param count number of orders
 * @param cents sum of their prices, in hundredths
 */
public record SupplierWindow(String supplier, long start, long end, long count, long cents) {
  /** Returns the total price, with two decimal places. */
  public BigDecimal total() {
    return BigDecimal.valueOf(cents, Price.SCALE);
  }
}
