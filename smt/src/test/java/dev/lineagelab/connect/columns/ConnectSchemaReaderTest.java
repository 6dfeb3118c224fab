// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.model.Field;
import java.util.List;
import org.apache.kafka.connect.data.Date;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Time;
import org.apache.kafka.connect.data.Timestamp;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ConnectSchemaReaderTest {
  static List<Arguments> types() {
    return List.of(
        Arguments.of(Schema.INT8_SCHEMA, "int8"),
        Arguments.of(Schema.OPTIONAL_INT64_SCHEMA, "int64"),
        Arguments.of(Schema.FLOAT32_SCHEMA, "float32"),
        Arguments.of(Schema.BOOLEAN_SCHEMA, "boolean"),
        Arguments.of(Schema.BYTES_SCHEMA, "bytes"),
        Arguments.of(Decimal.schema(2), "decimal(*,2)"),
        Arguments.of(
            Decimal.builder(2).parameter("connect.decimal.precision", "10").build(),
            "decimal(10,2)"),
        Arguments.of(Date.SCHEMA, "date"),
        Arguments.of(Time.SCHEMA, "time"),
        Arguments.of(Timestamp.SCHEMA, "timestamp"),
        Arguments.of(
            named(SchemaBuilder.int64(), "io.debezium.time.MicroTimestamp"), "timestamp(6)"),
        Arguments.of(named(SchemaBuilder.int32(), "io.debezium.time.Date"), "date32"),
        Arguments.of(named(SchemaBuilder.string(), "io.debezium.data.Uuid"), "uuid"),
        Arguments.of(
            SchemaBuilder.string()
                .name("io.debezium.data.Enum")
                .parameter("allowed", "a, b")
                .build(),
            "enum(a,b)"),
        Arguments.of(
            SchemaBuilder.string()
                .parameter("io.confluent.connect.avro.Enum", "Colour")
                .parameter("io.confluent.connect.avro.Enum.red", "red")
                .parameter("io.confluent.connect.avro.Enum.blue", "blue")
                .build(),
            "enum(blue,red)"),
        Arguments.of(SchemaBuilder.array(Schema.INT32_SCHEMA).build(), "array<int32>"),
        Arguments.of(
            SchemaBuilder.map(
                    Schema.STRING_SCHEMA,
                    SchemaBuilder.struct().field("x", Decimal.schema(1)).build())
                .build(),
            "map<string,struct<x:decimal(*,1)>>"),
        Arguments.of(named(SchemaBuilder.int32(), "com.example.Odd"), "int32"));
  }

  private static Schema named(final SchemaBuilder builder, final String name) {
    return builder.name(name).build();
  }

  @ParameterizedTest
  @MethodSource("types")
  void namesTypesByTheirMeaning(final Schema schema, final String type) {
    assertThat(ConnectSchemaReader.field("x", schema)).isEqualTo(Field.of("x", type));
  }

  @Test
  void keepsStructsUnionsAndDescriptions() {
    final Schema union =
        SchemaBuilder.struct()
            .name("io.confluent.connect.avro.Union")
            .field("string", Schema.OPTIONAL_STRING_SCHEMA)
            .field("int", Schema.OPTIONAL_INT32_SCHEMA)
            .build();
    final Schema schema =
        SchemaBuilder.struct()
            .field("a", SchemaBuilder.string().doc("what it is").build())
            .field("b", union)
            .build();
    assertThat(ConnectSchemaReader.fields(schema))
        .containsExactly(
            new Field("a", "string", "what it is", List.of()),
            new Field(
                "b",
                "union",
                null,
                List.of(Field.of("string", "string"), Field.of("int", "int32"))));
  }

  @Test
  void returnsNoFieldsForOtherTypes() {
    assertThat(ConnectSchemaReader.fields(null)).isEmpty();
    assertThat(ConnectSchemaReader.fields(Schema.STRING_SCHEMA)).isEmpty();
  }

  @Test
  void truncatesRecursiveSchemas() {
    final Field node = ConnectSchemaReader.field("node", RecursiveSchema.node());
    assertThat(node.fields().get(0)).isEqualTo(Field.of("value", "int32"));
    assertThat(node.fields().get(1)).isEqualTo(Field.of("next", "struct<...>"));
    assertThat(node.fields().get(2)).isEqualTo(Field.of("children", "array<...>"));
  }

  @Test
  void limitsTheNumberOfFields() {
    Schema schema = Schema.STRING_SCHEMA;
    for (int level = 0; level < 20; level++) {
      schema = SchemaBuilder.struct().field("left", schema).field("right", schema).build();
    }
    assertThat(count(ConnectSchemaReader.fields(schema)))
        .isLessThanOrEqualTo(ConnectSchemaReader.MAX_FIELDS);
  }

  private static int count(final List<Field> fields) {
    return fields.stream().mapToInt(field -> 1 + count(field.fields())).sum();
  }
}
