// SPDX-License-Identifier: Apache-2.0
/**
 * Apicurio's Avro converter, which knows a registry that is away from a record that is wrong.
 *
 * <p>Connect asks a converter again, for as long as {@code errors.retry.timeout} says, where it
 * throws a retriable error. Apicurio's throws none.
 */
package dev.lineagelab.converter;
