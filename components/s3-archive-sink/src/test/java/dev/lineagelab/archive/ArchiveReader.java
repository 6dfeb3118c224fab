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
import org.apache.avro.file.DataFileReader;
import org.apache.avro.file.SeekableByteArrayInput;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.kafka.common.TopicPartition;

/** Reads the archive as its users do: all objects of a topic whose path has no underscore. */
final class ArchiveReader {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern NAME =
      Pattern.compile(".*/([^/]+)\\+(\\d+)\\+(\\d+)-(\\d+)\\.(json|avro)");

  private ArchiveReader() {}

  /** What the name of an object says. */
  record Name(TopicPartition partition, long first, long last, String extension) {}

  static boolean isData(final String key) {
    return !key.contains("/_");
  }

  static Name nameOf(final String key) {
    final Matcher matcher = NAME.matcher(key);
    if (!matcher.matches()) {
      throw new IllegalArgumentException(key);
    }
    return new Name(
        new TopicPartition(matcher.group(1), Integer.parseInt(matcher.group(2))),
        Long.parseLong(matcher.group(3)),
        Long.parseLong(matcher.group(4)),
        matcher.group(5));
  }

  /** Field {@code offset} of each record. */
  static List<Long> offsets(final String key, final byte[] content) {
    final List<Long> offsets = new ArrayList<>();
    try {
      if (key.endsWith(".avro")) {
        for (final GenericRecord record : avro(content)) {
          offsets.add((Long) record.get("offset"));
        }
      } else {
        for (final String line : new String(content, StandardCharsets.UTF_8).split("\n")) {
          offsets.add(JSON.readTree(line).get("offset").asLong());
        }
      }
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    }
    return offsets;
  }

  /** Records of an Avro container file. */
  static List<GenericRecord> avro(final byte[] content) {
    final List<GenericRecord> records = new ArrayList<>();
    try (DataFileReader<GenericRecord> reader =
        new DataFileReader<>(new SeekableByteArrayInput(content), new GenericDatumReader<>())) {
      reader.forEach(records::add);
    } catch (final IOException e) {
      throw new UncheckedIOException(e);
    }
    return records;
  }
}
