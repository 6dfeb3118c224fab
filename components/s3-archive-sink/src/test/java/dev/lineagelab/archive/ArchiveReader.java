// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.common.TopicPartition;

/** Reader of the archive as its users see it: all objects without a leading underscore. */
final class ArchiveReader {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern KEY = Pattern.compile(".*/([^/]+)\\+(\\d+)\\+(\\d+)-(\\d+)\\.json");

  private ArchiveReader() {}

  /** Parsed key of a data object. */
  record DataKey(TopicPartition partition, long first, long last) {}

  static boolean isData(final String key) {
    return !key.contains("/_");
  }

  static DataKey parse(final String key) {
    final Matcher matcher = KEY.matcher(key);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("not the key of a data object: " + key);
    }
    return new DataKey(
        new TopicPartition(matcher.group(1), Integer.parseInt(matcher.group(2))),
        Long.parseLong(matcher.group(3)),
        Long.parseLong(matcher.group(4)));
  }

  /** Return the field {@code offset} of each line. */
  static List<Long> offsets(final byte[] content) {
    final List<Long> offsets = new ArrayList<>();
    try {
      for (final String line : new String(content, StandardCharsets.UTF_8).split("\n")) {
        offsets.add(JSON.readTree(line).get("offset").asLong());
      }
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    }
    return offsets;
  }
}
