// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.apache.avro.LogicalType;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.kafka.connect.data.Date;
import org.apache.kafka.connect.data.Decimal;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.data.Time;
import org.apache.kafka.connect.data.Timestamp;
import org.apache.kafka.connect.errors.DataException;

/**
 * Translates the schemas of one object. Optional becomes a union with null, logical types become
 * Avro's, names that Avro does not allow get underscores and keep the old one in {@code
 * connect.name}. A map whose keys are not strings is a list of records with key and value.
 */
final class AvroTypes {
  private static final String NAME = "connect.name";
  private static final String PRECISION = "connect.decimal.precision";
  private static final int MAX_PRECISION = 38;
  private static final long DAY_MS = 86_400_000L;

  /** Structs may repeat, as before and after do in a change event: Avro wants the name once. */
  private final Map<List<Object>, AvroType> structs = new HashMap<>();

  private final AvroNames names = new AvroNames();

  /**
   * Translates a schema, with all below it.
   *
   * @param fallbackName of a struct that has no name
   */
  AvroType of(final org.apache.kafka.connect.data.Schema schema, final String fallbackName) {
    final AvroType type = mandatory(schema, fallbackName);
    return schema.isOptional() ? type.optional() : type;
  }

  private AvroType mandatory(
      final org.apache.kafka.connect.data.Schema schema, final String fallbackName) {
    final Optional<AvroType> logical = logical(schema);
    if (logical.isPresent()) {
      return logical.get();
    }
    return switch (schema.type()) {
      case INT8, INT16, INT32 -> scalar(Schema.Type.INT, v -> ((Number) v).intValue());
      case INT64 -> scalar(Schema.Type.LONG, v -> (Long) v);
      case FLOAT32 -> scalar(Schema.Type.FLOAT, v -> (Float) v);
      case FLOAT64 -> scalar(Schema.Type.DOUBLE, v -> (Double) v);
      case BOOLEAN -> scalar(Schema.Type.BOOLEAN, v -> (Boolean) v);
      case BYTES ->
          scalar(
              Schema.Type.BYTES,
              v ->
                  v instanceof byte[] bytes
                      ? ByteBuffer.wrap(bytes)
                      : ((ByteBuffer) v).duplicate());
      case STRING -> text(schema, fallbackName);
      case ARRAY -> array(schema, fallbackName);
      case MAP -> map(schema, fallbackName);
      case STRUCT -> struct(schema, fallbackName);
    };
  }

  private static Optional<AvroType> logical(final org.apache.kafka.connect.data.Schema schema) {
    if (schema.name() == null) {
      return Optional.empty();
    }
    return switch (schema.name()) {
      case Decimal.LOGICAL_NAME -> Optional.of(decimal(schema));
      case Date.LOGICAL_NAME ->
          Optional.of(
              time(
                  LogicalTypes.date(),
                  Schema.Type.INT,
                  v -> (int) Math.floorDiv(((java.util.Date) v).getTime(), DAY_MS)));
      case Time.LOGICAL_NAME ->
          Optional.of(
              time(
                  LogicalTypes.timeMillis(),
                  Schema.Type.INT,
                  v -> (int) ((java.util.Date) v).getTime()));
      case Timestamp.LOGICAL_NAME ->
          Optional.of(
              time(
                  LogicalTypes.timestampMillis(),
                  Schema.Type.LONG,
                  v -> ((java.util.Date) v).getTime()));
      default -> Optional.empty();
    };
  }

  private static AvroType decimal(final org.apache.kafka.connect.data.Schema schema) {
    final int scale = Integer.parseInt(schema.parameters().get(Decimal.SCALE_FIELD));
    final int precision =
        Integer.parseInt(
            schema.parameters().getOrDefault(PRECISION, Integer.toString(MAX_PRECISION)));
    final Schema avro =
        LogicalTypes.decimal(precision, scale).addToSchema(Schema.create(Schema.Type.BYTES));
    return scalar(
        avro,
        value -> {
          final BigDecimal decimal = (BigDecimal) value;
          if (decimal.scale() != scale || decimal.precision() > precision) {
            throw new DataException(
                decimal
                    + " does not fit decimal("
                    + precision
                    + ", "
                    + scale
                    + "): correct "
                    + PRECISION);
          }
          return ByteBuffer.wrap(decimal.unscaledValue().toByteArray());
        });
  }

  private static AvroType time(
      final LogicalType logical, final Schema.Type type, final UnaryOperator<Object> conversion) {
    return scalar(logical.addToSchema(Schema.create(type)), conversion);
  }

  /** An enum, if the schema's parameters list the symbols as Debezium or Avro converters do. */
  private AvroType text(
      final org.apache.kafka.connect.data.Schema schema, final String fallbackName) {
    final List<String> symbols = symbols(schema);
    if (symbols.isEmpty() || !symbols.stream().allMatch(AvroNames::isLegal)) {
      return scalar(Schema.Type.STRING, v -> (String) v);
    }
    final Schema avro = Schema.createEnum(names.unique(fallbackName), null, null, symbols);
    return scalar(
        avro,
        value -> {
          if (!avro.hasEnumSymbol((String) value)) {
            throw new DataException("'" + value + "' is none of the enum's symbols " + symbols);
          }
          return new GenericData.EnumSymbol(avro, (String) value);
        });
  }

  private static List<String> symbols(final org.apache.kafka.connect.data.Schema schema) {
    final Map<String, String> parameters =
        schema.parameters() == null ? Map.of() : schema.parameters();
    if ("io.debezium.data.Enum".equals(schema.name())) {
      final String allowed = parameters.getOrDefault("allowed", "");
      return allowed.isEmpty() ? List.of() : List.of(allowed.split("\\s*,\\s*"));
    }
    return parameters.keySet().stream()
        .filter(name -> name.endsWith(".Enum"))
        .findFirst()
        .map(
            marker ->
                parameters.keySet().stream()
                    .filter(name -> name.startsWith(marker + "."))
                    .map(name -> name.substring(marker.length() + 1))
                    .toList())
        .orElse(List.of());
  }

  private AvroType array(
      final org.apache.kafka.connect.data.Schema schema, final String fallbackName) {
    final AvroType items = of(schema.valueSchema(), fallbackName + "_item");
    final Schema avro = Schema.createArray(items.schema());
    return scalar(
        avro,
        value -> {
          final List<Object> converted = new ArrayList<>();
          ((Collection<?>) value).forEach(item -> converted.add(items.convert(item)));
          return new GenericData.Array<>(avro, converted);
        });
  }

  private AvroType map(
      final org.apache.kafka.connect.data.Schema schema, final String fallbackName) {
    final AvroType values = of(schema.valueSchema(), fallbackName + "_value");
    if (schema.keySchema().type() == org.apache.kafka.connect.data.Schema.Type.STRING
        && !schema.keySchema().isOptional()) {
      return scalar(
          Schema.createMap(values.schema()),
          value -> {
            final Map<Object, Object> converted = new LinkedHashMap<>();
            ((Map<?, ?>) value).forEach((key, item) -> converted.put(key, values.convert(item)));
            return converted;
          });
    }
    final AvroType keys = of(schema.keySchema(), fallbackName + "_key");
    final Schema entry =
        Schema.createRecord(
            names.unique(fallbackName + "_entry"),
            null,
            null,
            false,
            List.of(
                new Schema.Field("key", keys.schema()),
                new Schema.Field("value", values.schema())));
    final Schema avro = Schema.createArray(entry);
    return scalar(
        avro,
        value -> {
          final List<Object> converted = new ArrayList<>();
          ((Map<?, ?>) value)
              .forEach(
                  (key, item) -> {
                    final GenericData.Record pair = new GenericData.Record(entry);
                    pair.put(0, keys.convert(key));
                    pair.put(1, values.convert(item));
                    converted.add(pair);
                  });
          return new GenericData.Array<>(avro, converted);
        });
  }

  private AvroType struct(
      final org.apache.kafka.connect.data.Schema schema, final String fallbackName) {
    final String name = schema.name() == null ? fallbackName : schema.name();
    final List<Object> identity = List.of(name, schema.fields());
    final AvroType known = structs.get(identity);
    if (known != null) {
      return known;
    }
    final Schema avro = Schema.createRecord(names.unique(name), schema.doc(), null, false);
    keepName(avro.getFullName(), name, original -> avro.addProp(NAME, original));
    final AvroNames fieldNames = new AvroNames();
    final List<Schema.Field> avroFields = new ArrayList<>();
    final List<AvroType> types = new ArrayList<>();
    for (final Field field : schema.fields()) {
      final AvroType type = of(field.schema(), avro.getName() + "_" + field.name());
      final String fieldName = fieldNames.unique(field.name().replace('.', '_'));
      final Object defaultValue =
          field.schema().isOptional() ? Schema.Field.NULL_DEFAULT_VALUE : null;
      final Schema.Field avroField =
          new Schema.Field(fieldName, type.schema(), field.schema().doc(), defaultValue);
      keepName(fieldName, field.name(), original -> avroField.addProp(NAME, original));
      avroFields.add(avroField);
      types.add(type);
    }
    avro.setFields(avroFields);
    final List<Field> fields = schema.fields();
    final AvroType type =
        scalar(
            avro,
            value -> {
              final GenericData.Record record = new GenericData.Record(avro);
              for (int i = 0; i < types.size(); i++) {
                record.put(i, convert(types.get(i), fields.get(i), (Struct) value));
              }
              return record;
            });
    structs.put(identity, type);
    return type;
  }

  private static Object convert(final AvroType type, final Field field, final Struct struct) {
    try {
      return type.convert(struct.get(field.name()));
    } catch (final DataException e) {
      throw new DataException(field.name() + ": " + e.getMessage(), e);
    }
  }

  private static void keepName(
      final String avroName, final String name, final java.util.function.Consumer<String> keep) {
    if (!avroName.equals(name)) {
      keep.accept(name);
    }
  }

  private static AvroType scalar(final Schema.Type type, final UnaryOperator<Object> conversion) {
    return scalar(Schema.create(type), conversion);
  }

  private static AvroType scalar(final Schema schema, final UnaryOperator<Object> conversion) {
    return new AvroType(
        schema,
        value -> {
          if (value == null) {
            throw new DataException("null, which its schema does not allow");
          }
          return conversion.apply(value);
        });
  }
}
