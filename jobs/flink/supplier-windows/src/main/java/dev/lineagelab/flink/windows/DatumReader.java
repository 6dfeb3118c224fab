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
 * Decoder of Avro records of one writer schema. Rejects trailing bytes.
 *
 * <p>Avro allocates a string's buffer from its length prefix without a bounds check, so that a few
 * corrupt bytes can allocate 2 GiB and crash the process with an OutOfMemoryError. This decoder
 * limits the length of a string to the size of the value.
 */
final class DatumReader {
  private final GenericDatumReader<GenericRecord> reader;
  private BinaryDecoder decoder;
  private int maxLength;

  DatumReader(final Schema writer, final Schema readers) {
    reader =
        new GenericDatumReader<>(writer, readers) {
          @Override
          protected Object readString(final Object old, final Decoder in) throws IOException {
            return in.readString(new BoundedUtf8(maxLength));
          }
        };
  }

  /**
   * Decodes the record that starts at an offset and extends to the end of the array.
   *
   * @throws IOException the value is truncated or has trailing bytes
   * @throws RuntimeException the value is malformed
   */
  GenericRecord read(final byte[] bytes, final int offset) throws IOException {
    maxLength = bytes.length - offset;
    decoder = DecoderFactory.get().binaryDecoder(bytes, offset, maxLength, decoder);
    final GenericRecord read = reader.read(null, decoder);
    if (!decoder.isEnd()) {
      throw new EOFException("trailing bytes after the record");
    }
    return read;
  }

  /** String buffer that rejects lengths above a maximum. */
  private static final class BoundedUtf8 extends Utf8 {
    private static final long serialVersionUID = 1L;

    private final int maxLength;

    BoundedUtf8(final int maxLength) {
      this.maxLength = maxLength;
    }

    @Override
    public Utf8 setByteLength(final int length) {
      if (length > maxLength) {
        throw new AvroRuntimeException(
            "string length " + length + " exceeds the " + maxLength + " bytes of the value");
      }
      return super.setByteLength(length);
    }
  }
}
