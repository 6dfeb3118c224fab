// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.sink.SinkRecord;
import org.junit.jupiter.api.Test;

class JsonFormatTest {
  private static final JsonFormat PLAIN = format(false, false, false, false);

  @Test
  void everyKindOfFieldIsReadable() {
    assertThat(line(PLAIN, SampleRecords.record(SampleRecords.ORDER, SampleRecords.order())))
        .isEqualTo(
            "{\"id\":7,\"count\":2,\"price\":\"19.90\",\"day\":\"2026-11-21\",\"time\":\"01:00\","
                + "\"at\":\"2026-11-21T12:00:00Z\",\"rate\":\"NaN\",\"paid\":true,\"raw\":\"AQID\","
                + "\"note-1\":null,\"state\":\"PAID\",\"first\":{\"sku\":\"a\"},"
                + "\"items\":[{\"sku\":\"a\"},{\"sku\":\"b\"}],\"tags\":{\"colour\":\"blue\"},"
                + "\"codes\":{\"5\":\"five\"}}\n");
  }

  @Test
  void decimalsAndTimesCanBeNumbers() {
    final JsonFormat numeric =
        new JsonFormat(new JsonValues(true, true), new Envelope(false, false), false);

    assertThat(line(numeric, SampleRecords.record(SampleRecords.ORDER, SampleRecords.order())))
        .contains("\"price\":19.90,\"day\":20778,\"time\":3600000,\"at\":1795262400000,");
  }

  @Test
  void valuesWithoutSchemaAreWrittenAsTheyAre() {
    final Map<Object, Object> odd = Map.of(List.of(1), 2.5f);

    assertThat(line(PLAIN, SampleRecords.record(null, Map.of("n", List.of(1, "two", true)))))
        .isEqualTo("{\"n\":[1,\"two\",true]}\n");
    assertThat(line(PLAIN, SampleRecords.record(null, odd))).isEqualTo("[[[1],2.5]]\n");
    assertThat(line(PLAIN, SampleRecords.record(Schema.STRING_SCHEMA, "line\nbreak")))
        .isEqualTo("\"line\\nbreak\"\n");
  }

  @Test
  void keyAndHeadersCanBeArchivedToo() {
    final SinkRecord record = SampleRecords.record(Schema.INT32_SCHEMA, 1);

    assertThat(line(format(true, true, false, false), record))
        .isEqualTo(
            "{\"key\":\"key-7\",\"value\":1,\"headers\":[{\"key\":\"origin\",\"value\":\"web\"},"
                + "{\"key\":\"attempt\",\"value\":2}]}\n");
    assertThat(line(format(true, false, false, false), SampleRecords.record(null, null)))
        .isEqualTo("{\"key\":\"key-7\",\"value\":null}\n");
  }

  @Test
  void aValueOfAnUnknownClassIsAnError() {
    assertThatThrownBy(() -> PLAIN.encode(SampleRecords.record(null, new Object())))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("java.lang.Object cannot be written as JSON");
  }

  @Test
  void equalRecordsGiveEqualObjectsAlsoWhenCompressed() throws IOException {
    final JsonFormat gzipped = format(false, false, true, false);
    final EncodedRecords records = new EncodedRecords();
    for (int i = 0; i < 3; i++) {
      records.add(gzipped.encode(SampleRecords.record(null, Map.of("i", i))));
    }

    final byte[] object = gzipped.assemble("key", records);

    assertThat(object).isEqualTo(gzipped.assemble("key", records));
    assertThat(new GZIPInputStream(new ByteArrayInputStream(object)).readAllBytes())
        .asString(StandardCharsets.UTF_8)
        .isEqualTo("{\"i\":0}\n{\"i\":1}\n{\"i\":2}\n");
    assertThat(gzipped.extension()).isEqualTo("json.gz");
  }

  private static JsonFormat format(
      final boolean hasKey,
      final boolean hasHeaders,
      final boolean isGzipped,
      final boolean isEpoch) {
    return new JsonFormat(
        new JsonValues(false, isEpoch), new Envelope(hasKey, hasHeaders), isGzipped);
  }

  private static String line(final JsonFormat format, final SinkRecord record) {
    return new String(format.encode(record), StandardCharsets.UTF_8);
  }
}
