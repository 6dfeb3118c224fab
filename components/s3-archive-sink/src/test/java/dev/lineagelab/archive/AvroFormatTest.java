// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.apache.avro.LogicalTypes;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.util.Utf8;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.sink.SinkRecord;
import org.junit.jupiter.api.Test;

class AvroFormatTest {
  private static final AvroFormat VALUES = new AvroFormat("null", new Envelope(false, false));

  @Test
  void everyKindOfFieldSurvives() {
    final GenericRecord order =
        roundTrip(VALUES, SampleRecords.record(SampleRecords.ORDER, SampleRecords.order()));

    assertThat(order.get("id")).isEqualTo(7L);
    assertThat(order.get("count")).isEqualTo(2);
    assertThat(decimal(order.get("price"), 2)).isEqualTo("19.90");
    assertThat(order.get("day")).isEqualTo(20778);
    assertThat(order.get("time")).isEqualTo(3_600_000);
    assertThat(order.get("at")).isEqualTo(SampleRecords.NOON);
    assertThat(order.get("rate")).isEqualTo(Double.NaN);
    assertThat(order.get("raw")).isEqualTo(ByteBuffer.wrap(new byte[] {1, 2, 3}));
    assertThat(order.get("note_1")).isNull();
    assertThat(order.get("state")).hasToString("PAID");
    assertThat(order.get("items")).hasToString("[{\"sku\": \"a\"}, {\"sku\": \"b\"}]");
    assertThat(order.get("tags")).isEqualTo(Map.of(new Utf8("colour"), new Utf8("blue")));
    assertThat(order.get("codes")).hasToString("[{\"key\": 5, \"value\": \"five\"}]");
  }

  @Test
  void schemasKeepLogicalTypesAndNames() {
    final org.apache.avro.Schema schema =
        roundTrip(VALUES, SampleRecords.record(SampleRecords.ORDER, SampleRecords.order()))
            .getSchema();

    assertThat(schema.getFullName()).isEqualTo("lab_1.shop.Order");
    assertThat(schema.getProp("connect.name")).isEqualTo("lab-1.shop.Order");
    assertThat(schema.getField("note_1").getProp("connect.name")).isEqualTo("note-1");
    assertThat(schema.getField("note_1").schema().isNullable()).isTrue();
    assertThat(schema.getField("price").schema().getLogicalType())
        .isEqualTo(LogicalTypes.decimal(10, 2));
    assertThat(schema.getField("day").schema().getLogicalType()).isEqualTo(LogicalTypes.date());
    assertThat(schema.getField("at").schema().getLogicalType())
        .isEqualTo(LogicalTypes.timestampMillis());
    assertThat(schema.getField("state").schema().getEnumSymbols()).containsExactly("NEW", "PAID");
  }

  @Test
  void structsOfOneNameButOtherFieldsGetOtherNames() {
    final Schema one = SchemaBuilder.struct().name("Same").field("a", Schema.INT32_SCHEMA).build();
    final Schema two = SchemaBuilder.struct().name("Same").field("b", Schema.INT32_SCHEMA).build();
    final Schema both = SchemaBuilder.struct().field("one", one).field("two", two).build();
    final Struct value =
        new Struct(both)
            .put("one", new Struct(one).put("a", 1))
            .put("two", new Struct(two).put("b", 2));

    final GenericRecord read = roundTrip(VALUES, SampleRecords.record(both, value));

    assertThat(read).hasToString("{\"one\": {\"a\": 1}, \"two\": {\"b\": 2}}");
    assertThat(read.getSchema().getField("two").schema().getName()).isEqualTo("Same_2");
  }

  @Test
  void enumsOfAvroConvertersStayEnums() {
    final Schema state =
        SchemaBuilder.string()
            .parameter("org.apache.kafka.connect.data.Enum", "State")
            .parameter("org.apache.kafka.connect.data.Enum.NEW", "NEW")
            .parameter("org.apache.kafka.connect.data.Enum.OLD", "OLD")
            .build();
    final Schema schema = SchemaBuilder.struct().field("state", state).build();

    final GenericRecord read =
        roundTrip(VALUES, SampleRecords.record(schema, new Struct(schema).put("state", "OLD")));

    assertThat(read.getSchema().getField("state").schema().getEnumSymbols())
        .containsExactlyInAnyOrder("NEW", "OLD");
    assertThatThrownBy(
            () ->
                encode(VALUES, SampleRecords.record(schema, new Struct(schema).put("state", "X"))))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("state: 'X' is none of the enum's symbols");
  }

  @Test
  void keyAndHeadersCanBeArchivedToo() {
    final AvroFormat format = new AvroFormat("deflate", new Envelope(true, true));

    assertThat(roundTrip(format, SampleRecords.record(Schema.INT32_SCHEMA, 1)))
        .hasToString(
            "{\"key\": \"key-7\", \"value\": 1, \"headers\": [{\"key\": \"origin\", \"value\": \"web\"}, "
                + "{\"key\": \"attempt\", \"value\": \"2\"}]}");
    assertThat(roundTrip(format, SampleRecords.record(null, null)).get("value")).isNull();
  }

  @Test
  void recordsShareAnObjectIfTheirSchemasAreEqual() {
    final Schema first = SchemaBuilder.struct().field("a", Schema.INT32_SCHEMA).build();
    final Schema equal = SchemaBuilder.struct().field("a", Schema.INT32_SCHEMA).build();
    final Schema other = SchemaBuilder.struct().field("a", Schema.INT64_SCHEMA).build();

    final RecordFormat.Layout layout = layout(first, 1);

    assertThat(layout(equal, 2)).isSameAs(layout);
    assertThat(layout(other, 3L)).isNotSameAs(layout);
    assertThat(layout(first, 4)).isSameAs(layout);
  }

  @Test
  void valuesWithoutSchemaAreRefusedWithARemedy() {
    assertThatThrownBy(() -> VALUES.layoutOf(SampleRecords.record(null, Map.of("a", 1))))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("its value has no schema")
        .hasMessageContaining("set value.converter")
        .hasMessageContaining("format.class to JsonFormat");
    assertThatThrownBy(
            () ->
                new AvroFormat("null", new Envelope(true, false))
                    .layoutOf(SampleRecords.record(null, 5, Schema.INT32_SCHEMA, 1)))
        .hasMessageContaining("its key has no schema")
        .hasMessageContaining("store.kafka.keys");
  }

  @Test
  void aDecimalThatDoesNotFitIsAnError() {
    final Schema schema =
        SchemaBuilder.struct()
            .field("d", Decimal.builder(1).parameter("connect.decimal.precision", "3").build())
            .build();

    assertThatThrownBy(
            () ->
                encode(
                    VALUES,
                    SampleRecords.record(
                        schema, new Struct(schema).put("d", new BigDecimal("123.4")))))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("d: 123.4 does not fit decimal(3, 1)");
  }

  @Test
  void equalRecordsGiveEqualObjects() {
    final SinkRecord record = SampleRecords.record(SampleRecords.ORDER, SampleRecords.order());

    assertThat(object(VALUES, record)).isEqualTo(object(VALUES, record));
    assertThat(object(new AvroFormat("null", new Envelope(false, false)), record))
        .isEqualTo(object(VALUES, record));
  }

  private static RecordFormat.Layout layout(final Schema schema, final Object a) {
    return VALUES.layoutOf(SampleRecords.record(schema, new Struct(schema).put("a", a)));
  }

  private static byte[] encode(final AvroFormat format, final SinkRecord record) {
    return format.layoutOf(record).encode(record);
  }

  private static byte[] object(final AvroFormat format, final SinkRecord record) {
    final EncodedRecords records = new EncodedRecords();
    records.add(encode(format, record));
    return format.layoutOf(record).assemble("some/key.avro", records);
  }

  private static GenericRecord roundTrip(final AvroFormat format, final SinkRecord record) {
    final List<GenericRecord> records = ArchiveReader.avro(object(format, record));
    assertThat(records).hasSize(1);
    return records.get(0);
  }

  private static String decimal(final Object bytes, final int scale) {
    final ByteBuffer buffer = (ByteBuffer) bytes;
    final byte[] unscaled = new byte[buffer.remaining()];
    buffer.get(unscaled);
    return new BigDecimal(new BigInteger(unscaled), scale).toPlainString();
  }
}
