// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.errors.DataException;
import org.junit.jupiter.api.Test;

class JsonLinesTest {

  @Test
  void encodesEveryFieldType() {
    assertThat(line(SampleRecords.ORDER, SampleRecords.order()))
        .isEqualTo(
            "{\"id\":7,\"count\":2,\"price\":\"19.90\",\"day\":\"2026-11-21\",\"time\":\"01:00\","
                + "\"at\":\"2026-11-21T12:00:00Z\",\"rate\":\"NaN\",\"paid\":true,\"raw\":\"AQID\","
                + "\"note-1\":null,\"state\":\"PAID\",\"first\":{\"sku\":\"a\"},"
                + "\"items\":[{\"sku\":\"a\"},{\"sku\":\"b\"}],\"tags\":{\"colour\":\"blue\"},"
                + "\"codes\":{\"5\":\"five\"}}\n");
  }

  @Test
  void encodesSchemalessValues() {
    assertThat(line(null, Map.of("n", Arrays.asList(1, "two", true, null))))
        .isEqualTo("{\"n\":[1,\"two\",true,null]}\n");
    assertThat(line(null, Map.of(List.of(1), 2.5f))).isEqualTo("[[[1],2.5]]\n");
    assertThat(line(null, List.of(new BigInteger("12345678901234567890"), 0.1, Float.NaN)))
        .isEqualTo("[12345678901234567890,0.1,\"NaN\"]\n");
  }

  @Test
  void encodesTextOnOneLine() {
    assertThat(line(Schema.STRING_SCHEMA, "line\nbreak")).isEqualTo("\"line\\nbreak\"\n");
  }

  @Test
  void encodesTheRemainingBytesOfABuffer() {
    final ByteBuffer buffer = ByteBuffer.wrap(new byte[] {9, 1, 2, 3, 9}, 1, 3);

    assertThat(line(Schema.BYTES_SCHEMA, buffer)).isEqualTo("\"AQID\"\n");
    assertThat(buffer.remaining()).isEqualTo(3);
  }

  @Test
  void rejectsAnUnknownClass() {
    assertThatThrownBy(() -> line(null, Map.of("a", new Object())))
        .isInstanceOf(DataException.class)
        .hasMessage("cannot write a java.lang.Object as JSON");
  }

  private static String line(final Schema schema, final Object value) {
    return new String(
        JsonLines.encode(SampleRecords.record(schema, value)), StandardCharsets.UTF_8);
  }
}
