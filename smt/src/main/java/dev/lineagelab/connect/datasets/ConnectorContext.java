// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.UnusableOptionException;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.DatasetNamespaces;
import java.util.Optional;

/**
 * A connector as resolvers see it.
 *
 * @param options its configuration
 */
public record ConnectorContext(
    ConnectorDefinition view, ConnectorOptions options, DatasetNamespaces names) {
  static ConnectorContext of(final ConnectorDefinition view, final DatasetNamespaces names) {
    return new ConnectorContext(view, new ConnectorOptions(view.config()), names);
  }

  /** A dataset under the namespace that all use for its store. */
  public Dataset dataset(final String namespace, final String name) {
    return new Dataset(names.canonical().apply(namespace), name);
  }

  /**
   * A topic of the Kafka cluster that the connector's records go through: the worker's, unless its
   * producer or consumer is sent to another one.
   */
  public Dataset topic(final String name) {
    return new Dataset(kafkaNamespace(), name);
  }

  private String kafkaNamespace() {
    final String client = view.type() == ConnectorType.SINK ? "consumer" : "producer";
    try {
      return kafka(options.text(client + ".override.bootstrap.servers"))
          .map(names.canonical())
          .orElse(names.kafka());
    } catch (final UnusableOptionException e) {
      return names.kafka();
    }
  }

  /** The namespace of a Kafka cluster: its first server. */
  static Optional<String> kafka(final Optional<String> bootstrapServers) {
    return bootstrapServers
        .map(servers -> servers.split(",", -1)[0].strip())
        .filter(server -> !server.isEmpty())
        .map(server -> "kafka://" + server.substring(server.lastIndexOf('/') + 1));
  }
}
