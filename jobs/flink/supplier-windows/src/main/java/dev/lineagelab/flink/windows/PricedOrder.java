// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

/**
 * What a window needs of an order.
 *
 * @param supplier its name
 * @param cents price in hundredths
 */
public record PricedOrder(String supplier, long cents) {}
