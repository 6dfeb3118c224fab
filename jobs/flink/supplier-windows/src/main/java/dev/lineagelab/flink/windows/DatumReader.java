// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.io.EOFException;
import java.io.IOException;
import org.apache.flink.avro.shaded.org.apache.avro.AvroRuntimeException;
import org.apache.flink.avro.shaded.org.apache.avro.Schema;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericDatumReader;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;
import org.apache.flink.avro.shaded.org.apache.avro.io.BinaryDecoder;
import org.apache.flink.avro.shaded.org.apache.avro.io.Decoder;
import org.apache.flink.avro.shaded.org.apache.avro.io.DecoderFactory;
import org.apache.flink.avro.shaded.org.apache.avro.util.Utf8;

/**
 * Reads records of one writer's schema, which fill their bytes to the last one.
 *
 * <p>Avro believes what the bytes say of the length of a text: four of them can make it ask for two
 * gigabytes, and end the whole process. Here no text is longer than its value.
 */
final class DatumReader {
  private final GenericDatumReader<GenericRecord> reader;
  private BinaryDecoder decoder;
  private int longest;

  DatumReader(final Schema writers, final Schema own) {
    reader =
        new GenericDatumReader<>(writers, own) {
          @Override
          protected Object readString(final Object old, final Decoder in) throws IOException {
            return in.readString(new Text(longest));
          }
        };
  }

  /**
   * The record that begins at an offset.
   *
   * @throws IOException the bytes end too early, or too late
   * @throws RuntimeException they make no sense
   */
  GenericRecord read(final byte[] bytes, final int offset) throws IOException {
    longest = bytes.length - offset;
    decoder = DecoderFactory.get().binaryDecoder(bytes, offset, longest, decoder);
    final GenericRecord read = reader.read(null, decoder);
    if (!decoder.isEnd()) {
      throw new EOFException("there are bytes after the end");
    }
    return read;
  }

  /** Refuses to be longer than it can be. */
  private static final class Text extends Utf8 {
    private static final long serialVersionUID = 1L;

    private final int longest;

    Text(final int longest) {
      this.longest = longest;
    }

    @Override
    public Utf8 setByteLength(final int length) {
      if (length > longest) {
        throw new AvroRuntimeException(
            "a text of " + length + " bytes in " + longest + ", which is all there are");
      }
      return super.setByteLength(length);
    }
  }
}
