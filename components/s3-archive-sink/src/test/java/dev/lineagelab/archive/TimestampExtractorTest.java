// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.Date;
import java.util.Map;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.data.Timestamp;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.sink.SinkRecord;
import org.junit.jupiter.api.Test;

class TimestampExtractorTest {
  private static final long NOON = Instant.parse("2026-11-21T12:00:00Z").toEpochMilli();

  @Test
  void ofTheRecord() {
    assertThat(TimestampExtractor.ofRecord().timestampOf(record(null, null, NOON))).isEqualTo(NOON);
  }

  @Test
  void aRecordWithoutTimestampNamesTheOption() {
    assertThatThrownBy(() -> TimestampExtractor.ofRecord().timestampOf(record(null, null, null)))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("set timestamp.extractor to RecordField or Wallclock");
  }

  @Test
  void ofTheClock() {
    final ManualClock clock = new ManualClock(Instant.ofEpochMilli(NOON));

    assertThat(TimestampExtractor.ofClock(clock).timestampOf(record(null, null, 1L)))
        .isEqualTo(NOON);
  }

  @Test
  void ofANestedFieldOfAStruct() {
    final Schema inner = SchemaBuilder.struct().field("at", Timestamp.SCHEMA).build();
    final Schema outer = SchemaBuilder.struct().field("meta", inner).build();
    final Struct value = new Struct(outer).put("meta", new Struct(inner).put("at", new Date(NOON)));

    assertThat(TimestampExtractor.ofField("meta.at").timestampOf(record(outer, value, 1L)))
        .isEqualTo(NOON);
  }

  @Test
  void ofAFieldOfAMapInAnyNotation() {
    for (final Object time :
        new Object[] {
          NOON,
          "2026-11-21T12:00:00Z",
          "2026-11-21T13:00:00+01:00",
          "2026-11-21T12:00:00",
          "2026-11-21 12:00:00.000"
        }) {
      assertThat(atField(time)).as("%s", time).isEqualTo(NOON);
    }
    assertThat(atField("2026-11-21")).isEqualTo(NOON - 12 * 3_600_000);
  }

  @Test
  void aFieldWithoutTimeIsNamed() {
    assertThatThrownBy(() -> atField("yesterday"))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("field 'at' (timestamp.field)")
        .hasMessageContaining("holds a String 'yesterday'");
    assertThatThrownBy(() -> atField(null)).hasMessageContaining("holds nothing");
    assertThatThrownBy(() -> atField(1.5)).hasMessageContaining("holds a Double '1.5'");
  }

  private static long atField(final Object time) {
    final Map<String, Object> value = time == null ? Map.of() : Map.of("at", time);
    return TimestampExtractor.ofField("at").timestampOf(record(null, value, 1L));
  }

  private static SinkRecord record(final Schema schema, final Object value, final Long timestamp) {
    return new SinkRecord(
        "orders", 0, null, null, schema, value, 0, timestamp, TimestampType.CREATE_TIME);
  }
}
