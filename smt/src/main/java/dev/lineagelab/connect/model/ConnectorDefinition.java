// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.Map;
import java.util.Objects;

/**
 * A connector as far as the plugin sees it.
 *
 * @param connectorClass null if unknown
 * @param config as it was given, with secrets and unresolved references; never to be shown
 * @param complete whether {@code config} is the whole configuration. Without the REST extension it
 *     holds only the lines of this plugin's transform ({@code transforms.ALIAS.type} and its
 *     options): class, topics and the chain of transforms are then unknown
 */
public record ConnectorDefinition(
    String name,
    ConnectorType type,
    String connectorClass,
    Map<String, String> config,
    boolean complete) {
  public ConnectorDefinition {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(type, "type");
    config = Map.copyOf(config);
  }

  /** Without the values of the configuration, among which are secrets. */
  @Override
  public String toString() {
    return type + " " + name + " (" + connectorClass + ")";
  }
}
