// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import dev.lineagelab.connect.model.ConnectorLineage;

/**
 * Lineage with what was looked up so far.
 *
 * @param isPending true if more is likely to be found soon
 */
public record EnrichedLineage(ConnectorLineage lineage, boolean isPending) {}
