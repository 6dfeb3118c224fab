// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.functions.util.ListCollector;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.avro.shaded.org.apache.avro.Schema;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericData;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericDatumWriter;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;
import org.apache.flink.avro.shaded.org.apache.avro.io.BinaryEncoder;
import org.apache.flink.avro.shaded.org.apache.avro.io.EncoderFactory;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.util.SimpleUserCodeClassLoader;
import org.apache.flink.util.UserCodeClassLoader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of decoding orders of other writer schemas, and of malformed values. */
class AvroOrdersTest {
  private static final String BID_TIME =
      "{\"type\": \"long\", \"logicalType\": \"timestamp-millis\"}";
  private static final Schema SHOP =
      record(
          "\"order_id\": \"string\"",
          "\"item\": [\"null\", \"string\"]",
          "\"price\": [\"null\", \"string\"]",
          "\"supplier\": [\"null\", \"string\"]",
          "\"bid_time\": [\"null\", " + BID_TIME + "]");
  private static final int ID = 7;

  private final LoopbackRegistry registry = new LoopbackRegistry();
  private final AvroOrders orders = new AvroOrders(registry.url());
  private final Counter malformed = new SimpleCounter();

  @BeforeEach
  void open() {
    registry.add(ID, SHOP.toString());
    orders.open(new Metrics(malformed));
  }

  @AfterEach
  void close() {
    registry.close();
  }

  @Test
  void decodesAnOrderOfTheShop() throws IOException {
    final List<GenericRecord> read = read(order("12.50"));

    assertThat(read).hasSize(1);
    assertThat(read.get(0).get("price")).hasToString("12.50");
    assertThat(read.get(0).get("supplier")).hasToString("alder");
    assertThat(read.get(0).get("bid_time")).isEqualTo(1000L);
    assertThat(read.get(0).getSchema()).isEqualTo(Schemas.ORDER);
  }

  @Test
  void fetchesASchemaOnce() throws IOException {
    read(order("1"), order("2"), order("3"));

    assertThat(registry.requests).hasValue(1);
  }

  @Test
  void fieldMissingInWriterSchemaIsNull() throws IOException {
    final Schema sparse = record("\"price\": \"string\"", "\"new\": [\"null\", \"long\"]");
    registry.add(8, sparse.toString());

    final List<GenericRecord> read = read(value(8, sparse, Map.of("price", "1")));

    assertThat(read.get(0).get("supplier")).isNull();
    assertThat(read.get(0).get("bid_time")).isNull();
  }

  @Test
  void ignoresTombstones() throws IOException {
    assertThat(read((byte[]) null)).isEmpty();
    assertThat(malformed.getCount()).isZero();
  }

  @Test
  void dropsMalformedValuesWithoutAffectingOthers() throws IOException {
    final byte[] valid = order("1");
    final byte[] truncated = Arrays.copyOf(valid, valid.length - 3);
    final byte[] tooLong = Arrays.copyOf(valid, valid.length + 3);

    final List<GenericRecord> read =
        read(
            new byte[0],
            "{\"price\": \"1\"}".getBytes(),
            new byte[] {0, 0, 0},
            new byte[] {0, 0, 0, 0, ID},
            truncated,
            order("2"),
            tooLong,
            order("3"));

    assertThat(read).extracting(order -> order.get("price").toString()).containsExactly("2", "3");
    assertThat(malformed.getCount()).isEqualTo(6);
  }

  @Test
  void rejectsAStringLengthBeyondTheValue() throws IOException {
    final ByteArrayOutputStream bytes = header(ID);
    final BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
    encoder.writeString("id");
    encoder.writeIndex(0);
    encoder.writeIndex(1);
    encoder.writeLong(Integer.MAX_VALUE - 8);

    assertThat(read(bytes.toByteArray())).isEmpty();
    assertThat(malformed.getCount()).isEqualTo(1);
  }

  @Test
  void cachesAMissingSchema() throws IOException {
    final byte[] unknown = order("1");
    unknown[4] = 99;

    assertThat(read(unknown, unknown, order("2"))).hasSize(1);
    assertThat(malformed.getCount()).isEqualTo(2);
    assertThat(registry.requests).hasValue(2);
  }

  @Test
  void rejectsTimestampsInAnotherUnit() throws IOException {
    final Schema micros =
        record(
            "\"price\": \"string\"",
            "\"bid_time\": " + BID_TIME.replace("timestamp-millis", "timestamp-micros"));
    registry.add(8, micros.toString());

    assertThat(read(value(8, micros, Map.of("price", "1", "bid_time", 1_000_000L)))).isEmpty();
    assertThat(malformed.getCount()).isEqualTo(1);
  }

  @Test
  void rejectsSchemasThatAreNotAvroRecords() throws IOException {
    registry.add(8, "\"string\"");
    registry.add(9, "message Order {}");

    assertThat(read(new byte[] {0, 0, 0, 0, 8, 0}, new byte[] {0, 0, 0, 0, 9, 0})).isEmpty();
    assertThat(malformed.getCount()).isEqualTo(2);
  }

  @Test
  void registryOutageThrowsInsteadOfDroppingOrders() {
    for (final int status : new int[] {404, 429, 500, 503}) {
      registry.failWith(status);
      assertThatIOException()
          .isThrownBy(() -> read(order("1")))
          .withMessageStartingWith(
              "Failed to fetch schema " + ID + " from the schema registry at " + registry.url());
    }
    registry.close();
    assertThatIOException().isThrownBy(() -> read(order("1")));
    assertThat(malformed.getCount()).isZero();
  }

  private List<GenericRecord> read(final byte[]... values) throws IOException {
    final List<GenericRecord> read = new ArrayList<>();
    for (final byte[] value : values) {
      orders.deserialize(value, new ListCollector<>(read));
    }
    return read;
  }

  private static byte[] order(final String price) throws IOException {
    return value(
        ID,
        SHOP,
        Map.of(
            "order_id",
            "id",
            "item",
            "anvil",
            "price",
            price,
            "supplier",
            "alder",
            "bid_time",
            1000L));
  }

  private static byte[] value(final int id, final Schema schema, final Map<String, Object> fields)
      throws IOException {
    final GenericRecord record = new GenericData.Record(schema);
    fields.forEach(record::put);
    final ByteArrayOutputStream bytes = header(id);
    final BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
    new GenericDatumWriter<GenericRecord>(schema).write(record, encoder);
    return bytes.toByteArray();
  }

  private static ByteArrayOutputStream header(final int id) {
    final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.writeBytes(ByteBuffer.allocate(5).put((byte) 0).putInt(id).array());
    return bytes;
  }

  private static Schema record(final String... fields) {
    final List<String> written = new ArrayList<>();
    for (final String field : fields) {
      written.add("{\"name\": " + field.replaceFirst(":", ", \"type\":") + "}");
    }
    return new Schema.Parser()
        .parse(
            "{\"type\": \"record\", \"name\": \"Value\", \"namespace\": \"shop.public.orders\","
                + " \"fields\": ["
                + String.join(", ", written)
                + "]}");
  }

  /** Metric group that returns one counter for every name. */
  private record Metrics(Counter counter) implements DeserializationSchema.InitializationContext {
    @Override
    public MetricGroup getMetricGroup() {
      return new UnregisteredMetricsGroup() {
        @Override
        public Counter counter(final String name) {
          return counter;
        }
      };
    }

    @Override
    public UserCodeClassLoader getUserCodeClassLoader() {
      return SimpleUserCodeClassLoader.create(AvroOrdersTest.class.getClassLoader());
    }
  }
}
