// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.registry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lineagelab.connect.columns.ConnectSchemaReader;
import dev.lineagelab.connect.model.Field;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AvroSchemaReaderTest {
  private static List<Field> fields(final String avro) throws UnsupportedSchemaException {
    return ConnectSchemaReader.fields(
        AvroSchemaReader.toConnect(AvroSchemaReader.parse(avro.replace('\'', '"'))));
  }

  private static String record(final String... fields) {
    return "{'type':'record','name':'Row','namespace':'x','fields':["
        + String.join(",", fields)
        + "]}";
  }

  private static String field(final String type) {
    return "{'name':'f','type':" + type + "}";
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '~',
      value = {
        "int32; 'int'",
        "int64; 'long'",
        "float64; ['null','double']",
        "bytes; {'type':'fixed','name':'F','size':4}",
        "int16; {'type':'int','connect.type':'int16'}",
        "date; {'type':'int','logicalType':'date'}",
        "timestamp; {'type':'long','logicalType':'timestamp-millis'}",
        "int64; {'type':'long','logicalType':'timestamp-micros'}",
        "timestamp(6); {'type':'long','connect.name':'io.debezium.time.MicroTimestamp'}",
        "decimal(*,2); {'type':'bytes','logicalType':'decimal','precision':10,'scale':2}",
        "array<string>; {'type':'array','items':'string'}",
        "map<string,int64>; {'type':'map','values':'long'}",
        "enum(A,B); {'type':'enum','name':'E','symbols':['A','B']}",
      })
  void convertsTypes(final String expected, final String avro) throws Exception {
    assertThat(fields(record(field(avro)))).extracting(Field::type).containsExactly(expected);
  }

  @Test
  void convertsNestedAndReferencedRecords() throws Exception {
    final String inner = "{'type':'record','name':'In','fields':[{'name':'a','type':'int'}]}";
    final List<Field> found =
        fields(
            record("{'name':'one','type':" + inner + "}", "{'name':'two','type':['null','In']}"));
    assertThat(found).extracting(Field::name).containsExactly("one", "two");
    assertThat(found).allMatch(field -> field.fields().equals(List.of(Field.of("a", "int32"))));
  }

  @Test
  void convertsUnionsToStructs() throws Exception {
    final Field union = fields(record(field("['null','string','long']"))).get(0);
    assertThat(union.type()).isEqualTo("union");
    assertThat(union.fields()).extracting(Field::name).containsExactly("string", "long");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'type':'record','name':'R','fields':[{'name':'next','type':['null','R']}]}",
        "{'type':'record','name':'R','fields':[{'name':'a','type':'Other'}]}",
        "{'type':'record','name':'R','fields':[{'name':'a','type':'int'},{'name':'a','type':'int'}]}",
        "{'swagger':'2.0'}",
        "7",
        "{'type':{}}",
        "no JSON"
      })
  void rejectsUnsupportedSchemas(final String avro) {
    assertThatThrownBy(() -> fields(avro)).isInstanceOf(UnsupportedSchemaException.class);
  }

  @Test
  void limitsTheFieldsOfExponentialSchemas() throws Exception {
    final StringBuilder types = new StringBuilder("{'name':'t0','type':'int'}");
    for (int level = 1; level < 40; level++) {
      final String inner = level == 1 ? "'int'" : "'R" + (level - 1) + "'";
      types.append(
          ",{'name':'t%d','type':{'type':'record','name':'R%d','fields':[{'name':'a','type':%s},{'name':'b','type':%s}]}}"
              .formatted(level, level, inner, inner));
    }
    final List<Field> found = fields(record(types.toString()));
    assertThat(found).extracting(Field::name).startsWith("t0", "t1", "t2");
    assertThat(found.get(2).fields()).extracting(Field::name).containsExactly("a", "b");
    assertThat(count(found)).isEqualTo(10_000);
  }

  private static int count(final List<Field> fields) {
    return fields.stream().mapToInt(field -> 1 + count(field.fields())).sum();
  }

  @Test
  void ignoresPrecisionAndEnumSymbols() throws Exception {
    final Schema seen =
        SchemaBuilder.struct()
            .field("price", Decimal.schema(2))
            .field("kind", Schema.STRING_SCHEMA)
            .build();
    final String price =
        "{'name':'price','type':{'type':'bytes','logicalType':'decimal','precision':9,'scale':SCALE,"
            + "'connect.parameters':{'connect.decimal.precision':'9'}}}";
    final String kind = "{'name':'kind','type':{'type':'enum','name':'K','symbols':['A']}}";
    assertThat(isSame(seen, price.replace("SCALE", "2"), kind)).isTrue();
    assertThat(isSame(seen, price.replace("SCALE", "3"), kind)).isFalse();
    assertThat(isSame(seen, kind, price.replace("SCALE", "2"))).isFalse();
    assertThat(isSame(seen, price.replace("SCALE", "2"))).isFalse();
  }

  private static boolean isSame(final Schema seen, final String... fields) throws Exception {
    return SchemaMatcher.isSame(ConnectSchemaReader.fields(seen), fields(record(fields)));
  }

  @Test
  void returnsTheColumnsOfTheValueOnly() {
    final List<Field> topic =
        List.of("_id", "name", "_key", "_offset", "_headers.h").stream()
            .map(name -> Field.of(name, "string"))
            .collect(Collectors.toList());
    assertThat(SchemaMatcher.valueFields(topic))
        .extracting(Field::name)
        .containsExactly("_id", "name");
  }
}
