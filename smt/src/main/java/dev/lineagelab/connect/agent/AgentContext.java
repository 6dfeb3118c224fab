// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.model.LineageExtractor;
import dev.lineagelab.connect.tasks.RecordTotals;
import dev.lineagelab.connect.tasks.TaskObservations;

/** Inputs of a {@link LineageAgent} that do not depend on the cluster it polls. */
record AgentContext(
    ConnectorSettings settings,
    TaskObservations observations,
    RecordTotals totals,
    LineageExtractor extractor) {}
