// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.Origin;
import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.columns.SinkConversions;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.columns.SymbolicValue;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Sinks whose dataset names follow from their options by a template. The templates are in {@code
 * connectors.json}, written from the vendors' documentation; these connectors are not run here.
 */
public final class TemplateSinkResolver implements DatasetResolver {
  private static final String TABLE = "connectors.json";

  private final List<Row> rows;

  /**
   * Template of one kind of sink.
   *
   * @param classes names of its connector classes
   * @param columns VALUE if the fields of a record are columns; UNKNOWN if the content of the
   *     dataset depends on more than the template
   * @param keys option that stores keys too; null if there is none
   * @param headers option that stores headers too; null if there is none
   */
  private record Row(
      @JsonProperty(value = "classes", required = true) List<String> classes,
      @JsonProperty(value = "namespace", required = true) String namespace,
      @JsonProperty(value = "name", required = true) String name,
      @JsonProperty(value = "columns", required = true) Content columns,
      @JsonProperty("keys") String keys,
      @JsonProperty("headers") String headers) {}

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
  public boolean supports(final String connectorClass) {
    return row(connectorClass).isPresent();
  }

  private Optional<Row> row(final String connectorClass) {
    return rows.stream()
        .filter(row -> ConnectorClassNames.matchesAny(row.classes, connectorClass))
        .findFirst();
  }

  @Override
  public Resolution<SinkTarget> sinkTargets(
      final ConnectorContext connector, final String originalTopic, final SymbolicRecord record) {
    return Resolution.namedAfter(record.topic(), topic -> target(connector, topic, record));
  }

  private SinkTarget target(
      final ConnectorContext connector, final String topic, final SymbolicRecord record) {
    final Row row = row(connector.definition().connectorClass()).orElseThrow();
    final ConnectorOptions options = connector.options();
    final SymbolicValue columns =
        row.columns == Content.VALUE
            ? SinkConversions.addFields(record.value(), storedParts(row, options, record))
            : SymbolicValue.Unknown.because(
                "The format in which "
                    + connector.definition().connectorClass()
                    + " writes records is unknown.");
    return SinkTarget.of(
        connector.dataset(
            new NameTemplate(row.namespace).fill(options, topic),
            new NameTemplate(row.name).fill(options, topic)),
        columns);
  }

  /** Return the parts of a record that are stored next to its value. */
  private static Map<String, SymbolicValue> storedParts(
      final Row row, final ConnectorOptions options, final SymbolicRecord record) {
    final Map<String, SymbolicValue> parts = new LinkedHashMap<>();
    if (row.keys != null && options.flag(row.keys, false)) {
      parts.put(Origin.of(Part.KEY).columnName(), record.key());
    }
    if (row.headers != null && options.flag(row.headers, false)) {
      parts.put(Origin.of(Part.HEADERS).columnName(), record.allHeaders());
    }
    return parts;
  }
}
