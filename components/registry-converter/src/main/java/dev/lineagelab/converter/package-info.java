// SPDX-License-Identifier: Apache-2.0
/**
 * Avro converter of Apicurio that distinguishes an unavailable schema registry from an invalid
 * record.
 *
 * <p>Connect retries a converter for up to {@code errors.retry.timeout} if it throws a retriable
 * exception. Apicurio's converter throws none.
 */
package dev.lineagelab.converter;
