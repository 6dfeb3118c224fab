// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.columns.SymbolicValue;
import dev.lineagelab.connect.columns.TopicName;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;

/**
 * Sinks whose datasets follow from their options by a template: the table is {@code
 * connectors.json} beside this class. It was written from the vendors' documentation; none of them
 * was run here.
 */
public final class TemplateSinkResolver implements DatasetResolver {
  private static final String TABLE = "connectors.json";

  private final List<Row> rows;

  /**
   * A kind of sink.
   *
   * @param classes names of its connector classes
   * @param columns VALUE: a record's fields are columns; UNKNOWN: what is in a place depends on
   *     more than the table tells
   */
  private record Row(
      @JsonProperty(value = "classes", required = true) List<String> classes,
      @JsonProperty(value = "namespace", required = true) String namespace,
      @JsonProperty(value = "name", required = true) String name,
      @JsonProperty(value = "columns", required = true) Content columns) {}

  private enum Content {
    VALUE,
    UNKNOWN
  }

  public TemplateSinkResolver() {
    try (InputStream table = TemplateSinkResolver.class.getResourceAsStream(TABLE)) {
      rows = new ObjectMapper().readValue(table, new TypeReference<List<Row>>() {});
    } catch (final IOException e) {
      throw new UncheckedIOException("reading " + TABLE + " of the plugin's own jar", e);
    }
  }

  @Override
  public boolean knows(final String connectorClass) {
    return row(connectorClass).isPresent();
  }

  private Optional<Row> row(final String connectorClass) {
    return rows.stream()
        .filter(row -> ConnectorClassNames.isAnyOf(row.classes, connectorClass))
        .findFirst();
  }

  @Override
  public Resolution<SinkTarget> targets(
      final ConnectorContext connector, final SymbolicRecord record) {
    if (!(record.topic() instanceof final TopicName.Known topic)) {
      return Resolution.because(Routing.note(record.topic()));
    }
    final Row row = row(connector.view().connectorClass()).orElseThrow();
    final ConnectorOptions options = connector.options();
    final SymbolicValue columns =
        row.columns == Content.VALUE
            ? record.value()
            : SymbolicValue.Unknown.because(
                "How " + connector.view().connectorClass() + " writes records is not known.");
    return Resolution.of(
        List.of(
            SinkTarget.of(
                connector.dataset(
                    new NameTemplate(row.namespace).fill(options, topic.name()),
                    new NameTemplate(row.name).fill(options, topic.name())),
                columns)));
  }
}
