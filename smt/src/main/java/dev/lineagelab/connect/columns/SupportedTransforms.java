// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.SymbolicRecord.Side;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;

/** The transforms whose meaning is known, by the names of their classes. */
final class SupportedTransforms {
  private static final String KAFKA = "org.apache.kafka.connect.transforms.";
  private static final String DEBEZIUM = "io.debezium.transforms.";
  private static final String AIVEN = "io.aiven.kafka.connect.transforms.";

  /** Where the sink comes from today, and where it came from. */
  private static final List<String> ICEBERG =
      List.of("org.apache.iceberg.connect.transforms.", "io.tabular.iceberg.connect.transforms.");

  private static final String KAFKA_METADATA = "KafkaMetadataTransform";

  private static final Map<String, Function<ConnectorOptions, SymbolicTransform>> ALL =
      new HashMap<>();

  static {
    addKafka();
    addDebezium();
    ICEBERG.forEach(SupportedTransforms::addIceberg);
    // By their documentation; not run here.
    addSides(AIVEN + "Hash", SupportedTransforms::hash);
    ALL.put(AIVEN + "TombstoneHandler", options -> SupportedTransforms::unchanged);
    ALL.put(
        "io.confluent.connect.transforms.TombstoneHandler",
        options -> SupportedTransforms::unchanged);
  }

  private SupportedTransforms() {}

  private static void addKafka() {
    addSides(KAFKA + "ReplaceField", FieldTransforms::replaceField);
    addSides(KAFKA + "Cast", FieldTransforms::cast);
    addSides(KAFKA + "MaskField", FieldTransforms::maskField);
    addSides(KAFKA + "TimestampConverter", FieldTransforms::timestampConverter);
    addSides(KAFKA + "InsertField", RecordTransforms::insertField);
    addSides(KAFKA + "HeaderFrom", RecordTransforms::headerFrom);
    addSides(KAFKA + "ExtractField", StructTransforms::extractField);
    addSides(KAFKA + "HoistField", StructTransforms::hoistField);
    addSides(KAFKA + "Flatten", StructTransforms::flatten);
    addSides(KAFKA + "SetSchemaMetadata", StructTransforms::setSchemaMetadata);
    ALL.put(KAFKA + "ValueToKey", StructTransforms::valueToKey);
    ALL.put(KAFKA + "TimestampRouter", RecordTransforms::timestampRouter);
    ALL.put(KAFKA + "RegexRouter", RecordTransforms::regexRouter);
    ALL.put(KAFKA + "DropHeaders", RecordTransforms::dropHeaders);
    ALL.put(KAFKA + "InsertHeader", RecordTransforms::insertHeader);
    ALL.put(KAFKA + "Filter", options -> record -> List.of());
  }

  private static void addDebezium() {
    ALL.put(DEBEZIUM + "ExtractNewRecordState", DebeziumTransforms::extractNewRecordState);
    ALL.put(DEBEZIUM + "ByLogicalTableRouter", DebeziumTransforms::byLogicalTableRouter);
    ALL.put(DEBEZIUM + "SchemaChangeEventFilter", options -> SupportedTransforms::unchanged);
    ALL.put(DEBEZIUM + "openlineage.OpenLineage", options -> SupportedTransforms::unchanged);
    ALL.put(DEBEZIUM + "tracing.ActivateTracingSpan", options -> SupportedTransforms::unchanged);
  }

  private static void addIceberg(final String home) {
    ALL.put(home + "CopyValue", IcebergTransforms::copyValue);
    ALL.put(home + KAFKA_METADATA, IcebergTransforms::kafkaMetadata);
    ALL.put(home + "DebeziumTransform", IcebergTransforms::debezium);
    ALL.put(home + "DmsTransform", options -> IcebergTransforms.dms());
    ALL.put(
        home + "JsonToMapTransform", options -> valueFromText("fields are made from JSON text"));
    ALL.put(
        home + "MongoDebeziumTransform",
        options -> valueFromText("fields are made from BSON text"));
  }

  private static void addSides(
      final String name, final BiFunction<Side, ConnectorOptions, SymbolicTransform> factory) {
    ALL.put(name + "$Key", options -> factory.apply(Side.KEY, options));
    ALL.put(name + "$Value", options -> factory.apply(Side.VALUE, options));
  }

  private static List<SymbolicRecord> unchanged(final SymbolicRecord record) {
    return List.of(record);
  }

  private static SymbolicTransform hash(final Side side, final ConnectorOptions options) {
    final Optional<String> field = options.text("field.name");
    return record ->
        field.isEmpty()
            ? SymbolicTransform.changed(record, side, FieldTransforms.masked(record.side(side)))
            : SymbolicTransform.onStruct(
                    side,
                    tree -> StructOperations.replace(tree, field.get(), FieldTransforms::masked))
                .apply(record);
  }

  /** One whose result depends on what is written in the value; the rest of the record stays. */
  private static SymbolicTransform valueFromText(final String why) {
    return record ->
        record.value() instanceof SymbolicValue.Absent
            ? List.of(record)
            : List.of(
                record.withValue(SymbolicValue.Unknown.because("The value's " + why + "."), null));
  }

  /**
   * The transform of a class; empty if it is not known.
   *
   * @param last options of the last transform of that class in the chain
   * @throws UnusableOptionException an option keeps it from being understood
   */
  static Optional<SymbolicTransform> of(
      final String className, final ConnectorOptions options, final ConnectorOptions last) {
    final Optional<SymbolicTransform> own =
        Optional.ofNullable(ALL.get(className)).map(known -> known.apply(options));
    return sharesOptions(className)
        ? own.map(transform -> transform.orElse(ALL.get(className).apply(last)))
        : own;
  }

  /**
   * Iceberg's KafkaMetadataTransform, up to 1.12.0 at least, keeps its options in a static field:
   * all of a chain do what the last of them is told (apache/iceberg issue 16601). Which version a
   * worker has is not known.
   */
  private static boolean sharesOptions(final String className) {
    return ICEBERG.stream().anyMatch(home -> className.equals(home + KAFKA_METADATA));
  }

  /** The name of a class with its package: Connect takes one without if it means one class. */
  static String fullName(final String className, final Collection<String> others) {
    final List<String> found =
        Stream.concat(ALL.keySet().stream(), others.stream())
            .filter(name -> name.endsWith("." + className))
            .filter(name -> !name.startsWith(ICEBERG.get(1)))
            .toList();
    return found.size() == 1 ? found.get(0) : className;
  }
}
