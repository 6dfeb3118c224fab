// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.columns.SymbolicRecord.Side;
import dev.lineagelab.connect.columns.SymbolicValue.Leaf;
import dev.lineagelab.connect.columns.SymbolicValue.StructValue;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Models of Kafka's transforms that read or change topic, headers or metadata of a record. */
final class RecordTransforms {
  private static final Map<String, Part> METADATA_FIELDS = new LinkedHashMap<>();

  static {
    // In the order in which Kafka adds them, after the topic.
    METADATA_FIELDS.put("partition.field", Part.PARTITION);
    METADATA_FIELDS.put("offset.field", Part.OFFSET);
    METADATA_FIELDS.put("timestamp.field", Part.TIMESTAMP);
  }

  private RecordTransforms() {}

  /** {@code InsertField}: adds topic, partition, offset, timestamp, or a constant. */
  static SymbolicTransform insertField(final Side side, final ConnectorOptions options) {
    final Map<String, Part> metadata = new LinkedHashMap<>();
    METADATA_FIELDS.forEach(
        (option, part) ->
            options.text(option).ifPresent(name -> metadata.put(withoutMark(name), part)));
    final Optional<String> topicField =
        options.text("topic.field").map(RecordTransforms::withoutMark);
    final Optional<String> constant =
        options.text("static.field").map(RecordTransforms::withoutMark);
    final SymbolicValue constantValue =
        Leaf.constant("string", options.text("static.value").orElse(null));
    return record ->
        SymbolicTransform.onStruct(
                side,
                struct -> {
                  Optional<StructValue> added =
                      topicField.isPresent()
                          ? StructOperations.add(struct, topicField.get(), topicOf(record))
                          : Optional.of(struct);
                  for (final Map.Entry<String, Part> field : metadata.entrySet()) {
                    final SymbolicValue value = record.metadata().get(field.getValue());
                    added = added.flatMap(t -> StructOperations.add(t, field.getKey(), value));
                  }
                  return constant.isPresent()
                      ? added.flatMap(t -> StructOperations.add(t, constant.get(), constantValue))
                      : added;
                })
            .apply(record);
  }

  /** Return the topic name of a record as a value. */
  static SymbolicValue topicOf(final SymbolicRecord record) {
    final String type = "string";
    final Origin origin = Origin.of(Part.TOPIC);
    if (record.topic() instanceof final TopicName.Known known) {
      final Contribution contribution = Contribution.identity(origin);
      return new Leaf(type, null, new TreeSet<>(Set.of(contribution)), known.name());
    }
    return unknown(record.topic())
        .<SymbolicValue>map(reason -> new SymbolicValue.Unknown(type, null, reason))
        .orElseGet(() -> Leaf.of(type, Set.of(Contribution.identity(origin).transformed())));
  }

  /** Return why the name of a topic is unknown; empty if it is known but for a timestamp. */
  private static Optional<String> unknown(final TopicName topic) {
    if (topic instanceof final TopicName.Unknown unknown) {
      return Optional.of(unknown.reason());
    }
    return topic instanceof final TopicName.Routed routed
        ? Optional.of(routed.reason())
        : Optional.empty();
  }

  private static String withoutMark(final String field) {
    return field.endsWith("?") || field.endsWith("!")
        ? field.substring(0, field.length() - 1)
        : field;
  }

  /** {@code RegexRouter}: renames topics that match a regular expression. */
  static SymbolicTransform regexRouter(final ConnectorOptions options) {
    final BoundedRegex regex = BoundedRegex.of(options.required("regex"));
    final String replacement = options.text("replacement").orElse("");
    return record -> List.of(record.withTopic(routed(record.topic(), regex, replacement)));
  }

  /** Return the topic name that a router produces. */
  static TopicName routed(
      final TopicName topic, final BoundedRegex regex, final String replacement) {
    if (topic instanceof final TopicName.Known known) {
      return regex
          .replaceIfMatches(known.name(), replacement)
          .<TopicName>map(TopicName.Known::new)
          .orElse(topic);
    }
    return new TopicName.Unknown(
        unknown(topic)
            .orElse("A router depends on a topic name that contains the record's timestamp."));
  }

  /** {@code TimestampRouter}: adds the record's timestamp to the topic name. */
  static SymbolicTransform timestampRouter(final ConnectorOptions options) {
    final String format = options.text("topic.format").orElse("${topic}-${timestamp}");
    return record -> List.of(record.withTopic(timed(record.topic(), format)));
  }

  private static TopicName timed(final TopicName topic, final String format) {
    final Optional<String> reason = unknown(topic);
    if (reason.isPresent()) {
      return new TopicName.Unknown(reason.get());
    }
    final boolean hasTime = format.contains("${timestamp}");
    if (topic instanceof final TopicName.Known known && !hasTime) {
      return new TopicName.Known(format.replace("${topic}", known.name()));
    }
    final String inner =
        topic instanceof final TopicName.Known known
            ? Pattern.quote(known.name())
            : ((TopicName.Timestamped) topic).regex();
    final StringBuilder regex = new StringBuilder();
    final Matcher placeholders = Pattern.compile("\\$\\{(topic|timestamp)}").matcher(format);
    int at = 0;
    while (placeholders.find()) {
      regex.append(Pattern.quote(format.substring(at, placeholders.start())));
      regex.append("topic".equals(placeholders.group(1)) ? inner : ".+");
      at = placeholders.end();
    }
    return new TopicName.Timestamped(regex.append(Pattern.quote(format.substring(at))).toString());
  }

  /** {@code DropHeaders}: removes headers. */
  static SymbolicTransform dropHeaders(final ConnectorOptions options) {
    final List<String> names = options.list("headers");
    return record -> {
      SymbolicRecord changed = record;
      for (final String name : names) {
        changed = changed.withHeader(name, false);
      }
      return List.of(changed);
    };
  }

  /** {@code InsertHeader}: adds a header. */
  static SymbolicTransform insertHeader(final ConnectorOptions options) {
    final String name = options.required("header");
    return record -> List.of(record.withHeader(name, true));
  }

  /** {@code HeaderFrom}: copies or moves fields to headers. Fails on a null key or value. */
  static SymbolicTransform headerFrom(final Side side, final ConnectorOptions options) {
    final List<String> fields = options.list("fields");
    final List<String> headers = options.list("headers");
    final boolean isMove = "move".equals(options.required("operation"));
    final SymbolicTransform change =
        SymbolicTransform.onRequiredStruct(
            side,
            struct -> {
              final boolean isComplete =
                  fields.stream()
                      .noneMatch(name -> struct.child(name) instanceof SymbolicValue.Absent);
              if (!isComplete) {
                return Optional.empty();
              }
              return Optional.of(
                  isMove ? StructOperations.remove(struct, Set.copyOf(fields)) : struct);
            });
    return record ->
        change.apply(record).stream()
            .map(
                changed -> {
                  SymbolicRecord more = changed;
                  for (final String header : headers) {
                    more = more.withHeader(header, true);
                  }
                  return more;
                })
            .toList();
  }
}
