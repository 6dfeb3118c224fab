// SPDX-License-Identifier: Apache-2.0
/**
 * Kafka Connect plugins that do what a test tells them to: fail at a given place, be slow, make
 * records of every odd shape, count.
 *
 * <p>They stand for the connectors and transforms that the lineage plugin has never heard of, so
 * they share no code with it.
 */
package dev.lineagelab.testing;
