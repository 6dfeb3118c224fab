// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.cluster;

import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.runs.ConnectorStatus;

/**
 * Definition and status of a connector at one poll.
 *
 * @param hasTransform whether its chain of transforms contains this plugin's transform
 */
public record ConnectorSnapshot(
    ConnectorDefinition definition, ConnectorStatus status, boolean hasTransform) {}
