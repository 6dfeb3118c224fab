// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.BoundedRegex;
import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.Origin;
import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.columns.SymbolicValue;
import dev.lineagelab.connect.columns.UnusableOptionException;
import dev.lineagelab.connect.datasets.SourceStream.InputColumn;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.ObservedTopic;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** Kafka's MirrorMaker 2, which copies topics between clusters byte for byte. */
public final class MirrorMakerResolver implements DatasetResolver {
  private static final String PACKAGE = "org.apache.kafka.connect.mirror.";
  private static final String SOURCE = PACKAGE + "MirrorSourceConnector";
  private static final String CHECKPOINT = PACKAGE + "MirrorCheckpointConnector";
  private static final String HEARTBEAT = PACKAGE + "MirrorHeartbeatConnector";
  private static final Pattern LITERAL = Pattern.compile("[A-Za-z0-9_\\-]+");

  /** Parts of a record that the connector copies unchanged. */
  private static final Set<Part> COPIED =
      Set.of(Part.KEY, Part.VALUE, Part.PARTITION, Part.TIMESTAMP, Part.HEADERS);

  @Override
  public boolean supports(final String connectorClass) {
    return ConnectorClassNames.matchesAny(List.of(SOURCE, CHECKPOINT, HEARTBEAT), connectorClass);
  }

  @Override
  public Resolution<SourceStream> sourceStreams(
      final ConnectorContext connector, final List<ObservedTopic> seen) {
    final String name = connector.definition().connectorClass();
    final ConnectorOptions options = connector.options();
    if (ConnectorClassNames.matchesAny(List.of(HEARTBEAT), name)) {
      return Resolution.of(List.of(stream(null, "heartbeats")));
    }
    if (ConnectorClassNames.matchesAny(List.of(CHECKPOINT), name)) {
      final String alias = options.required("source.cluster.alias");
      final SymbolicValue made =
          SymbolicValue.Unknown.because(
              "Checkpoints are computed from the offsets of many records.");
      return Resolution.of(
          List.of(
              new SourceStream(
                  offsetSyncs(connector),
                  SymbolicRecord.initial(alias + ".checkpoints.internal", made, made),
                  MirrorMakerResolver::column,
                  true)));
    }
    return mirrored(connector, seen);
  }

  /**
   * Return the topic in which the source connector stores offset mappings, the input of
   * checkpoints.
   */
  private static Dataset offsetSyncs(final ConnectorContext connector) {
    final ConnectorOptions options = connector.options();
    final boolean isInTarget =
        "target".equals(options.text("offset-syncs.topic.location").orElse("source"));
    final String other = isInTarget ? "source" : "target";
    final String name =
        "mm2-offset-syncs." + options.required(other + ".cluster.alias") + ".internal";
    return isInTarget ? connector.topic(name) : new Dataset(source(connector), name);
  }

  private static Resolution<SourceStream> mirrored(
      final ConnectorContext connector, final List<ObservedTopic> seen) {
    final Optional<String> prefix = prefix(connector.options());
    if (prefix.isEmpty()) {
      return Resolution.unknown(
          "The topic names of the class in 'replication.policy.class' are unknown.");
    }
    final Set<String> remote = new TreeSet<>();
    connector.options().list("topics").stream()
        .filter(topic -> LITERAL.matcher(topic).matches())
        .forEach(topic -> remote.add(prefix.get() + topic));
    final boolean isRouted = connector.chain().mayChangeTopic();
    if (!isRouted) {
      seen.stream()
          .map(ObservedTopic::topic)
          .filter(topic -> topic.startsWith(prefix.get()))
          .filter(topic -> isCopied(connector, topic.substring(prefix.get().length())))
          .forEach(remote::add);
    }
    final String source = source(connector);
    return new Resolution<>(
        remote.stream()
            .map(t -> stream(new Dataset(source, t.substring(prefix.get().length())), t))
            .toList(),
        isRouted
            ? List.of("A transform renames topics: only those listed in 'topics' are traced.")
            : List.of());
  }

  /**
   * Return whether the current configuration copies a topic: topics may be from before a change.
   */
  private static boolean isCopied(final ConnectorContext connector, final String topic) {
    final List<String> patterns = connector.options().list("topics");
    try {
      return patterns.isEmpty()
          || patterns.stream().anyMatch(pattern -> BoundedRegex.of(pattern).matches(topic));
    } catch (final UnusableOptionException e) {
      // An expression may contain commas; the topic was written, by whichever of them.
      return true;
    }
  }

  /**
   * Return the prefix that the replication policy adds to topic names; empty if the policy is
   * unknown.
   */
  private static Optional<String> prefix(final ConnectorOptions options) {
    final String policy =
        options.text("replication.policy.class").orElse(PACKAGE + "DefaultReplicationPolicy");
    return switch (policy.substring(policy.lastIndexOf('.') + 1)) {
      case "DefaultReplicationPolicy" ->
          Optional.of(
              options.text("source.cluster.alias").orElse("source")
                  + options.text("replication.policy.separator").orElse("."));
      case "IdentityReplicationPolicy" -> Optional.of("");
      default -> Optional.empty();
    };
  }

  private static String source(final ConnectorContext connector) {
    final ConnectorOptions options = connector.options();
    final String servers =
        options
            .text("source.cluster.bootstrap.servers")
            .orElseGet(() -> options.required("source.consumer.bootstrap.servers"));
    final String namespace =
        ConnectorContext.kafkaNamespace(Optional.of(servers))
            .orElseThrow(() -> new UnusableOptionException("the source cluster has no server"));
    return connector.namespaces().canonical().apply(namespace);
  }

  private static SourceStream stream(final Dataset source, final String topic) {
    return new SourceStream(
        source, SymbolicRecord.initial(topic), MirrorMakerResolver::column, false);
  }

  private static Optional<InputColumn> column(final Origin origin) {
    return COPIED.contains(origin.part())
        ? Optional.of(InputColumn.of(origin.columnName()))
        : Optional.empty();
  }
}
