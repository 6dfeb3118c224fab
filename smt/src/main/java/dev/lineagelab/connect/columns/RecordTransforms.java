// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.Origin.Part;
import dev.lineagelab.connect.columns.RecordState.Side;
import dev.lineagelab.connect.columns.Shape.Leaf;
import dev.lineagelab.connect.columns.Shape.Tree;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Kafka's transforms that read or change the other parts of a record: topic, headers, metadata. */
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
  static Transform insertField(final Side side, final Options options) {
    final Map<String, Part> metadata = new LinkedHashMap<>();
    METADATA_FIELDS.forEach(
        (option, part) ->
            options.text(option).ifPresent(name -> metadata.put(withoutMark(name), part)));
    final Optional<String> topicField =
        options.text("topic.field").map(RecordTransforms::withoutMark);
    final Optional<String> constant =
        options.text("static.field").map(RecordTransforms::withoutMark);
    final Shape constantValue = Leaf.constant("string", options.text("static.value").orElse(null));
    return record ->
        Transform.onStruct(
                side,
                tree -> {
                  Optional<Tree> added =
                      topicField.isPresent()
                          ? Structs.add(tree, topicField.get(), topicOf(record))
                          : Optional.of(tree);
                  for (final Map.Entry<String, Part> field : metadata.entrySet()) {
                    final Shape value = record.metadata().get(field.getValue());
                    added = added.flatMap(t -> Structs.add(t, field.getKey(), value));
                  }
                  return constant.isPresent()
                      ? added.flatMap(t -> Structs.add(t, constant.get(), constantValue))
                      : added;
                })
            .apply(record);
  }

  /** The name of a record's topic as a value. */
  static Shape topicOf(final RecordState record) {
    final String type = "string";
    final Origin origin = Origin.of(Part.TOPIC);
    if (record.topic() instanceof final TopicName.Known known) {
      final Contribution contribution = Contribution.identity(origin);
      return new Leaf(type, null, new TreeSet<>(Set.of(contribution)), known.name());
    }
    return record.topic() instanceof final TopicName.Unknown unknown
        ? new Shape.Unknown(type, null, unknown.reason())
        : Leaf.of(type, Set.of(Contribution.identity(origin).transformed()));
  }

  private static String withoutMark(final String field) {
    return field.endsWith("?") || field.endsWith("!")
        ? field.substring(0, field.length() - 1)
        : field;
  }

  /** {@code RegexRouter}. */
  static Transform regexRouter(final Options options) {
    final Regex regex = Regex.of(options.required("regex"));
    final String replacement = options.text("replacement").orElse("");
    return record -> List.of(record.with(routed(record.topic(), regex, replacement)));
  }

  /** The topic that a router makes of one. */
  static TopicName routed(final TopicName topic, final Regex regex, final String replacement) {
    if (topic instanceof final TopicName.Known known) {
      return regex
          .replaceAllOf(known.name(), replacement)
          .<TopicName>map(TopicName.Known::new)
          .orElse(topic);
    }
    return topic instanceof TopicName.Timed
        ? new TopicName.Unknown("A router decides on a topic that has the record's time in it.")
        : topic;
  }

  /** {@code TimestampRouter}: the topic gets the record's time. */
  static Transform timestampRouter(final Options options) {
    final String format = options.text("topic.format").orElse("${topic}-${timestamp}");
    return record -> List.of(record.with(timed(record.topic(), format)));
  }

  private static TopicName timed(final TopicName topic, final String format) {
    if (topic instanceof TopicName.Unknown) {
      return topic;
    }
    final boolean hasTime = format.contains("${timestamp}");
    if (topic instanceof final TopicName.Known known && !hasTime) {
      return new TopicName.Known(format.replace("${topic}", known.name()));
    }
    final String inner =
        topic instanceof final TopicName.Known known
            ? Pattern.quote(known.name())
            : ((TopicName.Timed) topic).regex();
    final StringBuilder regex = new StringBuilder();
    final Matcher placeholders = Pattern.compile("\\$\\{(topic|timestamp)}").matcher(format);
    int at = 0;
    while (placeholders.find()) {
      regex.append(Pattern.quote(format.substring(at, placeholders.start())));
      regex.append("topic".equals(placeholders.group(1)) ? inner : ".+");
      at = placeholders.end();
    }
    return new TopicName.Timed(regex.append(Pattern.quote(format.substring(at))).toString());
  }

  /** {@code DropHeaders}. */
  static Transform dropHeaders(final Options options) {
    final List<String> names = options.list("headers");
    return record -> {
      RecordState changed = record;
      for (final String name : names) {
        changed = changed.withHeader(name, false);
      }
      return List.of(changed);
    };
  }

  /** {@code InsertHeader}. */
  static Transform insertHeader(final Options options) {
    final String name = options.required("header");
    return record -> List.of(record.withHeader(name, true));
  }

  /** {@code HeaderFrom}: copies or moves fields to headers. It fails where there is no value. */
  static Transform headerFrom(final Side side, final Options options) {
    final List<String> fields = options.list("fields");
    final List<String> headers = options.list("headers");
    final boolean isMove = "move".equals(options.required("operation"));
    final Transform change =
        Transform.onPresentStruct(
            side,
            tree -> {
              final boolean isComplete =
                  fields.stream().noneMatch(name -> tree.child(name) instanceof Shape.Absent);
              if (!isComplete) {
                return Optional.empty();
              }
              return Optional.of(isMove ? Structs.remove(tree, Set.copyOf(fields)) : tree);
            });
    return record ->
        change.apply(record).stream()
            .map(
                changed -> {
                  RecordState more = changed;
                  for (final String header : headers) {
                    more = more.withHeader(header, true);
                  }
                  return more;
                })
            .toList();
  }
}
