// SPDX-License-Identifier: Apache-2.0
/**
 * Guard of REST servers without authentication (Flink's JobManager and SQL gateway, Kafka Connect,
 * the Iceberg catalog) against pages in the user's browser.
 *
 * <p>A page of any origin can make a browser send such a server requests, for example the upload of
 * a jar, which need no permission of the server; behind DNS rebinding, it can also read the
 * responses. The guard refuses both with status 403. Clients other than browsers are not
 * restricted.
 */
package dev.lineagelab.rest;
