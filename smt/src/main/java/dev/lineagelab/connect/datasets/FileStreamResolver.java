// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.ColumnOrigins;
import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.Contribution;
import dev.lineagelab.connect.columns.Origin;
import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.columns.SymbolicValue;
import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.SymbolicValue.Unknown;
import dev.lineagelab.connect.datasets.SourceStream.InputColumn;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.ObservedTopic;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Kafka's file stream connectors. A record is one line of text. */
public final class FileStreamResolver implements DatasetResolver {
  private static final List<String> CLASSES =
      List.of(
          "org.apache.kafka.connect.file.FileStreamSourceConnector",
          "org.apache.kafka.connect.file.FileStreamSinkConnector");

  private static final String LINE = "line";
  private static final String TEXT = "string";

  @Override
  public boolean supports(final String connectorClass) {
    return ConnectorClassNames.matchesAny(CLASSES, connectorClass);
  }

  @Override
  public Resolution<SourceStream> sourceStreams(
      final ConnectorContext connector, final List<ObservedTopic> seen) {
    final SymbolicRecord record =
        SymbolicRecord.initial(
            connector.options().required("topic"),
            SymbolicValue.ABSENT,
            Leaf.of(TEXT, Origin.of(Part.VALUE)));
    final Optional<Dataset> file = file(connector);
    return new Resolution<>(
        List.of(new SourceStream(file.orElse(null), record, FileStreamResolver::line, true)),
        notes(file));
  }

  @Override
  public Resolution<SinkTarget> sinkTargets(
      final ConnectorContext connector, final String originalTopic, final SymbolicRecord record) {
    final Optional<Dataset> file = file(connector);
    return new Resolution<>(
        file.stream().map(f -> SinkTarget.of(f, lines(record.value()))).toList(), notes(file));
  }

  private static Optional<InputColumn> line(final Origin origin) {
    return origin.part() == Part.VALUE ? Optional.of(InputColumn.of(LINE)) : Optional.empty();
  }

  /** Return the line that the sink writes: the value as text, a struct with all its fields. */
  private static StructValue lines(final SymbolicValue value) {
    final boolean isLine = value instanceof final Leaf leaf && TEXT.equals(leaf.type());
    return StructValue.closed(null, Map.of(LINE, isLine ? value : asText(value)));
  }

  private static SymbolicValue asText(final SymbolicValue value) {
    final ColumnOrigins columns = ColumnOrigins.of(StructValue.closed(null, Map.of(LINE, value)));
    if (!columns.reasons().isEmpty()) {
      return Unknown.because(String.join(" ", columns.reasons()));
    }
    final Set<Contribution> parts = new TreeSet<>();
    columns.known().values().forEach(from -> from.forEach(part -> parts.add(part.transformed())));
    return Leaf.of(TEXT, parts);
  }

  /** Return the file; empty for a relative path, which depends on the worker's directory. */
  private static Optional<Dataset> file(final ConnectorContext connector) {
    final ConnectorOptions options = connector.options();
    return options
        .text("file")
        .filter(path -> path.startsWith("/"))
        .map(path -> connector.dataset("file", path));
  }

  private static List<String> notes(final Optional<Dataset> file) {
    return file.isPresent()
        ? List.of()
        : List.of(
            "The option 'file' is not an absolute path: the file depends on the worker's directory.");
  }
}
