// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.Options;
import dev.lineagelab.connect.columns.RecordState;
import dev.lineagelab.connect.columns.Shape.Tree;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.ObservedTopic;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Kafka's connectors for one text file. A file has lines, no columns. */
public final class FileStreamResolver implements DatasetResolver {
  private static final List<String> CLASSES =
      List.of(
          "org.apache.kafka.connect.file.FileStreamSourceConnector",
          "org.apache.kafka.connect.file.FileStreamSinkConnector");

  @Override
  public boolean knows(final String connectorClass) {
    return ClassNames.isAnyOf(CLASSES, connectorClass);
  }

  @Override
  public Resolved<SourceStream> streams(final Connector connector, final List<ObservedTopic> seen) {
    final RecordState record = RecordState.startingAs(connector.options().required("topic"));
    final Optional<Dataset> file = file(connector);
    return new Resolved<>(
        List.of(new SourceStream(file.orElse(null), record, origin -> Optional.empty(), true)),
        notes(file));
  }

  @Override
  public Resolved<SinkTarget> targets(final Connector connector, final RecordState record) {
    final Optional<Dataset> file = file(connector);
    return new Resolved<>(
        file.stream().map(f -> SinkTarget.of(f, Tree.exactly(null, Map.of()))).toList(),
        notes(file));
  }

  /** Of another path only the worker knows where it begins. */
  private static Optional<Dataset> file(final Connector connector) {
    final Options options = connector.options();
    return options
        .text("file")
        .filter(path -> path.startsWith("/"))
        .map(path -> connector.dataset("file", path));
  }

  private static List<String> notes(final Optional<Dataset> file) {
    return file.isPresent()
        ? List.of()
        : List.of(
            "The option 'file' has no absolute path: which file it is only the worker knows.");
  }
}
