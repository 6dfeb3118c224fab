// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

/**
 * Fields of an order that a window aggregates.
 *
 * @param supplier name of the supplier
 * @param cents price in hundredths
 */
public record PricedOrder(String supplier, long cents) {}
