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
 * Sinks whose dataset names follow from their options by a template. The templates are in {@code
 * connectors.json}, written from the vendors' documentation; these connectors are not run here.
 */
public final class TemplateSinkResolver implements DatasetResolver {
  private static final String TEMPLATES_FILE = "connectors.json";

  private final List<SinkTemplate> templates;

  /**
   * Template of one kind of sink.
   *
   * @param classes names of its connector classes
   * @param columns VALUE if the fields of a record are columns; UNKNOWN if the content of the
   *     dataset depends on more than the template
   */
  private record SinkTemplate(
      @JsonProperty(value = "classes", required = true) List<String> classes,
      @JsonProperty(value = "namespace", required = true) String namespace,
      @JsonProperty(value = "name", required = true) String name,
      @JsonProperty(value = "columns", required = true) ColumnMapping columns) {}

  private enum ColumnMapping {
    VALUE,
    UNKNOWN
  }

  public TemplateSinkResolver() {
    try (InputStream file = TemplateSinkResolver.class.getResourceAsStream(TEMPLATES_FILE)) {
      templates = new ObjectMapper().readValue(file, new TypeReference<List<SinkTemplate>>() {});
    } catch (final IOException e) {
      throw new UncheckedIOException("Cannot read " + TEMPLATES_FILE + " in the plugin's jar", e);
    }
  }

  @Override
  public boolean supports(final String connectorClass) {
    return template(connectorClass).isPresent();
  }

  private Optional<SinkTemplate> template(final String connectorClass) {
    return templates.stream()
        .filter(template -> ConnectorClassNames.matchesAny(template.classes, connectorClass))
        .findFirst();
  }

  @Override
  public Resolution<SinkTarget> sinkTargets(
      final ConnectorContext connector, final SymbolicRecord record) {
    if (!(record.topic() instanceof final TopicName.Known topic)) {
      return Resolution.unknownTopic(record.topic());
    }
    final SinkTemplate template = template(connector.definition().connectorClass()).orElseThrow();
    final ConnectorOptions options = connector.options();
    final SymbolicValue columns =
        template.columns == ColumnMapping.VALUE
            ? record.value()
            : SymbolicValue.Unknown.because(
                "How " + connector.definition().connectorClass() + " writes records is not known.");
    return Resolution.of(
        List.of(
            SinkTarget.of(
                connector.dataset(
                    new NameTemplate(template.namespace).fill(options, topic.name()),
                    new NameTemplate(template.name).fill(options, topic.name())),
                columns)));
  }
}
