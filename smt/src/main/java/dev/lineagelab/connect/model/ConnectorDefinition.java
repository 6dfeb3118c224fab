// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Connector with its configuration.
 *
 * @param connectorClass null if unknown
 * @param config as given, with secrets and unresolved references; must never be logged or sent
 * @param complete true if {@code config} is the entire configuration. Without the REST extension it
 *     contains only the options of this plugin's transform ({@code transforms.ALIAS.type} and its
 *     options); class, topics and transform chain are then unknown
 * @param activeTopics topics that a source has written, or a sink has read by {@code topics.regex},
 *     also under an earlier configuration; empty if this plugin's transform names them
 */
public record ConnectorDefinition(
    String name,
    ConnectorType type,
    String connectorClass,
    Map<String, String> config,
    boolean complete,
    Set<String> activeTopics) {
  public ConnectorDefinition {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(type, "type");
    config = Map.copyOf(config);
    activeTopics = Set.copyOf(activeTopics);
  }

  /** Create the definition of a connector without active topics. */
  public ConnectorDefinition(
      final String name,
      final ConnectorType type,
      final String connectorClass,
      final Map<String, String> config,
      final boolean complete) {
    this(name, type, connectorClass, config, complete, Set.of());
  }

  /** Omits the values of the configuration, which contain secrets. */
  @Override
  public String toString() {
    return type + " " + name + " (" + connectorClass + ")";
  }
}
