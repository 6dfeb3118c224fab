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

/**
 * S3 archive sink of the lab: one folder per topic; each line or row holds the value of a record.
 */
public final class S3ArchiveResolver implements DatasetResolver {
  private static final String CONNECTOR = "dev.lineagelab.archive.S3ArchiveSinkConnector";

  @Override
  public boolean supports(final String connectorClass) {
    return ConnectorClassNames.matchesAny(List.of(CONNECTOR), connectorClass);
  }

  @Override
  public Resolution<SinkTarget> sinkTargets(
      final ConnectorContext connector, final SymbolicRecord record) {
    if (!(record.topic() instanceof final TopicName.Known topic)) {
      return Resolution.unknownTopic(record.topic());
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
      return SinkConversions.renameFields(envelope(options, record), S3ArchiveResolver::avroName);
    }
    final boolean hasTextTimes = choice(options, "json.timestamp.format", "iso").equals("iso");
    final boolean hasTextDecimals =
        choice(options, "json.decimal.format", "string").equals("string");
    return SinkConversions.convertTypes(
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
    return StructValue.closed(null, fields);
  }

  /** Return an option that may be a class name, without package and in lower case. */
  private static String choice(
      final ConnectorOptions options, final String name, final String otherwise) {
    final String value = options.text(name).orElse(otherwise);
    return value.substring(value.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
  }

  /** Return a legal Avro name: letters, digits and underscores. */
  private static String avroName(final String name) {
    final String legal = name.replaceAll("\\W", "_");
    return legal.isEmpty() || Character.isDigit(legal.charAt(0)) ? "_" + legal : legal;
  }
}
