// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.Options;
import dev.lineagelab.connect.columns.RecordState;
import dev.lineagelab.connect.columns.Shape;
import dev.lineagelab.connect.columns.Shape.Tree;
import dev.lineagelab.connect.columns.Shapes;
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
    return ClassNames.isAnyOf(List.of(CONNECTOR), connectorClass);
  }

  @Override
  public Resolved<SinkTarget> targets(final Connector connector, final RecordState record) {
    if (!(record.topic() instanceof final TopicName.Known topic)) {
      return Resolved.because(Routing.note(record.topic()));
    }
    final Options options = connector.options();
    final String folder =
        options.has("topics.dir") ? options.text("topics.dir").orElse("") : "topics";
    final String name = folder.isEmpty() ? topic.name() : folder + "/" + topic.name();
    return Resolved.of(
        List.of(
            new SinkTarget(
                connector.dataset("s3://" + options.required("s3.bucket.name"), name),
                List.of(),
                content(options, record),
                true,
                Set.of())));
  }

  private static Shape content(final Options options, final RecordState record) {
    final boolean isAvro = choice(options, "format.class", "json").startsWith("avro");
    if (isAvro) {
      return Shapes.renamed(envelope(options, record), S3ArchiveResolver::avroName);
    }
    final boolean hasTextTimes = choice(options, "json.timestamp.format", "iso").equals("iso");
    final boolean hasTextDecimals =
        choice(options, "json.decimal.format", "string").equals("string");
    return Shapes.stored(envelope(options, record), StoreTypes.json(hasTextTimes, hasTextDecimals));
  }

  private static Shape envelope(final Options options, final RecordState record) {
    final boolean hasKey = options.flag("store.kafka.keys", false);
    if (!hasKey && !options.flag("store.kafka.headers", false)) {
      return record.value();
    }
    final Map<String, Shape> fields = new LinkedHashMap<>();
    if (hasKey) {
      fields.put("key", record.key());
    }
    fields.put("value", record.value());
    return Tree.exactly(null, fields);
  }

  /** Choices may have the package of a class before them. */
  private static String choice(final Options options, final String name, final String otherwise) {
    final String value = options.text(name).orElse(otherwise);
    return value.substring(value.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
  }

  /** Avro allows letters, digits and underscores. */
  private static String avroName(final String name) {
    final String legal = name.replaceAll("\\W", "_");
    return legal.isEmpty() || Character.isDigit(legal.charAt(0)) ? "_" + legal : legal;
  }
}
