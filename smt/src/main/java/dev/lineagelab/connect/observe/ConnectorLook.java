// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.observe;

import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.runs.ConnectorStatus;

/**
 * A connector as it is now.
 *
 * @param hasTransform whether its chain of transforms has this plugin's
 */
public record ConnectorLook(
    ConnectorDefinition view, ConnectorStatus status, boolean hasTransform) {}
