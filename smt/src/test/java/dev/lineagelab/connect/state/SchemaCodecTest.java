// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Timestamp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SchemaCodecTest {

  static Stream<Schema> schemas() {
    final SchemaBuilder wide = SchemaBuilder.struct().name("wide");
    for (int column = 0; column < 1000; column++) {
      wide.field(
          "c" + column, column % 2 == 0 ? Schema.INT32_SCHEMA : Schema.OPTIONAL_STRING_SCHEMA);
    }
    return Stream.of(
        Schema.STRING_SCHEMA,
        Schema.OPTIONAL_BYTES_SCHEMA,
        Decimal.builder(2).parameter("connect.decimal.precision", "10").doc("price").build(),
        SchemaBuilder.array(Timestamp.SCHEMA).optional().build(),
        SchemaBuilder.map(Schema.STRING_SCHEMA, SchemaBuilder.array(Schema.FLOAT64_SCHEMA).build())
            .build(),
        SchemaBuilder.struct()
            .name("order")
            .version(3)
            .field("id", Schema.INT64_SCHEMA)
            .field(
                "customer",
                SchemaBuilder.struct().optional().field("name", Schema.STRING_SCHEMA).build())
            .build(),
        wide.build());
  }

  @ParameterizedTest
  @MethodSource("schemas")
  void decodesWhatItEncodes(final Schema schema) {
    assertThat(SchemaCodec.decode(SchemaCodec.encode(schema))).isEqualTo(schema);
  }

  @Test
  void encodesNull() {
    assertThat(SchemaCodec.encode(null).isNull()).isTrue();
    assertThat(SchemaCodec.decode(SchemaCodec.encode(null))).isNull();
  }

  @Test
  void encodesARecursiveSchema() {
    final SchemaBuilder node = SchemaBuilder.struct().name("node");
    node.field("value", Schema.INT32_SCHEMA)
        .field("next", SchemaBuilder.array(node).optional().build());
    final Schema decoded = SchemaCodec.decode(SchemaCodec.encode(node.build()));
    final Schema next = decoded.field("next").schema().valueSchema();
    assertThat(next.name()).isEqualTo("node");
    assertThat(next.fields()).extracting(field -> field.name()).isEqualTo(List.of("value", "next"));
    assertThat(SchemaCodec.encode(decoded)).isEqualTo(SchemaCodec.encode(node.build()));
  }
}
