// SPDX-License-Identifier: Apache-2.0
/**
 * OpenLineage events of connectors. Every event is complete: it can be interpreted without earlier
 * ones.
 */
package dev.lineagelab.connect.events;
