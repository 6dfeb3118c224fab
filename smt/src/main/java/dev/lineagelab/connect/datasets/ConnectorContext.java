// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.TransformChain;
import dev.lineagelab.connect.columns.UnusableOptionException;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.DatasetNamespaces;
import java.util.List;
import java.util.Optional;

/**
 * Input of a resolver: a connector, its options, and the namespaces of datasets.
 *
 * @param options the connector's configuration
 */
public record ConnectorContext(
    ConnectorDefinition definition, ConnectorOptions options, DatasetNamespaces namespaces) {
  static ConnectorContext of(
      final ConnectorDefinition definition, final DatasetNamespaces namespaces) {
    return new ConnectorContext(definition, new ConnectorOptions(definition.config()), namespaces);
  }

  /** Return the connector's chain of transforms. */
  TransformChain chain() {
    return TransformChain.of(definition.config(), List.of(ConnectorLineageExtractor.OWN_TRANSFORM));
  }

  /** Return a dataset under its canonical namespace. */
  public Dataset dataset(final String namespace, final String name) {
    return new Dataset(namespaces.canonical().apply(namespace), name);
  }

  /**
   * Return a topic of the connector's Kafka cluster: the worker's, unless the configuration
   * overrides the bootstrap servers of its producer or consumer.
   */
  public Dataset topic(final String name) {
    return new Dataset(
        kafkaNamespaceOf(definition.type() == ConnectorType.SINK ? "consumer" : "producer"), name);
  }

  /** Return the dead letter topic of a sink, which Connect writes with a producer. */
  Dataset deadLetterTopic(final String name) {
    return new Dataset(kafkaNamespaceOf("producer"), name);
  }

  private String kafkaNamespaceOf(final String client) {
    try {
      return kafkaNamespace(options.text(client + ".override.bootstrap.servers"))
          .map(namespaces.canonical())
          .orElse(namespaces.kafka());
    } catch (final UnusableOptionException e) {
      return namespaces.kafka();
    }
  }

  /** Return the namespace of a Kafka cluster, named after its first bootstrap server. */
  static Optional<String> kafkaNamespace(final Optional<String> bootstrapServers) {
    return bootstrapServers
        .map(servers -> servers.split(",", -1)[0].strip())
        .filter(server -> !server.isEmpty())
        .map(server -> "kafka://" + server.substring(server.lastIndexOf('/') + 1));
  }
}
