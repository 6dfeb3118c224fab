// SPDX-License-Identifier: Apache-2.0
/**
 * Definitions and states of the connectors of a Connect cluster, read from the REST extension's
 * context or, without the extension, from this worker's metrics and transforms.
 */
package dev.lineagelab.connect.cluster;
