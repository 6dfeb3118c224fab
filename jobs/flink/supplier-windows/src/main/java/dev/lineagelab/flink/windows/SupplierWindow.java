// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.math.BigDecimal;

/**
 * What was ordered of a supplier in one window.
 *
 * @param supplier its name
 * @param start first millisecond of the window, since the epoch
 * @param end first millisecond after it
 * @param count orders
 * @param cents sum of their prices, in hundredths
 */
public record SupplierWindow(String supplier, long start, long end, long count, long cents) {
  /** The sum of the prices, with two decimal places. */
  public BigDecimal total() {
    return BigDecimal.valueOf(cents, Price.SCALE);
  }
}
