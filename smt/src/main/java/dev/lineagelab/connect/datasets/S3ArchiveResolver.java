// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.SinkConversions;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.columns.SymbolicValue;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import dev.lineagelab.connect.columns.TopicName;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** The S3 archive sink: a folder for each topic, with the value of a record in each line or row. */
public final class S3ArchiveResolver implements DatasetResolver {
  private static final String CONNECTOR = "dev.lineagelab.archive.S3ArchiveSinkConnector";

  @Override
  public boolean knows(final String connectorClass) {
    return ConnectorClassNames.isAnyOf(List.of(CONNECTOR), connectorClass);
  }

  @Override
  public Resolution<SinkTarget> targets(
      final ConnectorContext connector, final SymbolicRecord record) {
    if (!(record.topic() instanceof final TopicName.Known topic)) {
      return Resolution.because(Routing.note(record.topic()));
    }
    final ConnectorOptions options = connector.options();
    final String folder =
        options.has("topics.dir") ? options.text("topics.dir").orElse("") : "topics";
    final String name = folder.isEmpty() ? topic.name() : folder + "/" + topic.name();
    return Resolution.of(
        List.of(
            new SinkTarget(
                connector.dataset("s3://" + options.required("s3.bucket.name"), name),
                List.of(),
                content(options, record),
                true,
                Set.of())));
  }

  private static SymbolicValue content(
      final ConnectorOptions options, final SymbolicRecord record) {
    final boolean isAvro = choice(options, "format.class", "json").startsWith("avro");
    if (isAvro) {
      return SinkConversions.renamed(envelope(options, record), S3ArchiveResolver::avroName);
    }
    final boolean hasTextTimes = choice(options, "json.timestamp.format", "iso").equals("iso");
    final boolean hasTextDecimals =
        choice(options, "json.decimal.format", "string").equals("string");
    return SinkConversions.stored(
        envelope(options, record), StoreTypeMappings.json(hasTextTimes, hasTextDecimals));
  }

  private static SymbolicValue envelope(
      final ConnectorOptions options, final SymbolicRecord record) {
    final boolean hasKey = options.flag("store.kafka.keys", false);
    if (!hasKey && !options.flag("store.kafka.headers", false)) {
      return record.value();
    }
    final Map<String, SymbolicValue> fields = new LinkedHashMap<>();
    if (hasKey) {
      fields.put("key", record.key());
    }
    fields.put("value", record.value());
    return StructValue.exactly(null, fields);
  }

  /** Choices may have the package of a class before them. */
  private static String choice(
      final ConnectorOptions options, final String name, final String otherwise) {
    final String value = options.text(name).orElse(otherwise);
    return value.substring(value.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
  }

  /** Avro allows letters, digits and underscores. */
  private static String avroName(final String name) {
    final String legal = name.replaceAll("\\W", "_");
    return legal.isEmpty() || Character.isDigit(legal.charAt(0)) ? "_" + legal : legal;
  }
}
