// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.events;

import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.runs.ConnectorStatus;
import dev.lineagelab.connect.runs.EventType;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;

/**
 * All that an event says.
 *
 * @param reason why there is an event, for people
 * @param isPeriodic whether nothing has happened but time
 * @param status how the connector stands; null where nobody knows any more
 * @param counts of the window since the last event; null if unknown
 * @param window how often events come
 */
public record RunEvent(
    EventType type,
    Instant time,
    UUID runId,
    String jobNamespace,
    ConnectorDefinition connector,
    ConnectorLineage description,
    String reason,
    boolean isPeriodic,
    ConnectorStatus status,
    Counts counts,
    Duration window) {}
