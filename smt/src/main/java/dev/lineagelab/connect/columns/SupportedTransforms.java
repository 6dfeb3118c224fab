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

/** Transforms with a model, by class name. */
final class SupportedTransforms {
  private static final String KAFKA = "org.apache.kafka.connect.transforms.";
  private static final String DEBEZIUM = "io.debezium.transforms.";

  /** A plugin of its own: the simple name is Kafka's filter. */
  private static final String DEBEZIUM_FILTER = DEBEZIUM + "Filter";

  private static final String AIVEN = "io.aiven.kafka.connect.transforms.";

  /** Current and former package of the Iceberg sink. */
  private static final List<String> ICEBERG =
      List.of("org.apache.iceberg.connect.transforms.", "io.tabular.iceberg.connect.transforms.");

  private static final String KAFKA_METADATA = "KafkaMetadataTransform";

  private static final Map<String, Function<ConnectorOptions, SymbolicTransform>> FACTORIES =
      new HashMap<>();

  static {
    addKafka();
    addDebezium();
    ICEBERG.forEach(SupportedTransforms::addIceberg);
    // From the vendors' documentation; not run here.
    addSides(AIVEN + "Hash", SupportedTransforms::hash);
    FACTORIES.put(AIVEN + "TombstoneHandler", options -> SupportedTransforms::identity);
    FACTORIES.put(
        "io.confluent.connect.transforms.TombstoneHandler",
        options -> SupportedTransforms::identity);
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
    FACTORIES.put(KAFKA + "ValueToKey", StructTransforms::valueToKey);
    FACTORIES.put(KAFKA + "TimestampRouter", RecordTransforms::timestampRouter);
    FACTORIES.put(KAFKA + "RegexRouter", RecordTransforms::regexRouter);
    FACTORIES.put(KAFKA + "DropHeaders", RecordTransforms::dropHeaders);
    FACTORIES.put(KAFKA + "InsertHeader", RecordTransforms::insertHeader);
    FACTORIES.put(KAFKA + "Filter", options -> record -> List.of());
  }

  private static void addDebezium() {
    FACTORIES.put(DEBEZIUM + "ExtractNewRecordState", DebeziumTransforms::extractNewRecordState);
    FACTORIES.put(DEBEZIUM + "ByLogicalTableRouter", DebeziumTransforms::byLogicalTableRouter);
    FACTORIES.put(DEBEZIUM + "TimezoneConverter", DebeziumTransforms::timezoneConverter);
    FACTORIES.put(DEBEZIUM + "outbox.EventRouter", DebeziumEventRouter::new);
    FACTORIES.put(DEBEZIUM_FILTER, options -> SupportedTransforms::identity);
    FACTORIES.put(
        DEBEZIUM + "ContentBasedRouter",
        options ->
            record ->
                List.of(
                    record.withTopic(
                        new TopicName.Unknown(
                            "The topic is the result of an expression ('topic.expression')."))));
    FACTORIES.put(DEBEZIUM + "SchemaChangeEventFilter", options -> SupportedTransforms::identity);
    FACTORIES.put(DEBEZIUM + "openlineage.OpenLineage", options -> SupportedTransforms::identity);
    FACTORIES.put(
        DEBEZIUM + "tracing.ActivateTracingSpan", options -> SupportedTransforms::identity);
  }

  private static void addIceberg(final String home) {
    FACTORIES.put(home + "CopyValue", IcebergTransforms::copyValue);
    FACTORIES.put(home + KAFKA_METADATA, IcebergTransforms::kafkaMetadata);
    FACTORIES.put(home + "DebeziumTransform", IcebergTransforms::debezium);
    FACTORIES.put(home + "DmsTransform", options -> IcebergTransforms.dms());
    FACTORIES.put(
        home + "JsonToMapTransform", options -> valueFromText("fields are made from JSON text"));
    FACTORIES.put(
        home + "MongoDebeziumTransform",
        options -> valueFromText("fields are made from BSON text"));
  }

  private static void addSides(
      final String name, final BiFunction<Side, ConnectorOptions, SymbolicTransform> factory) {
    FACTORIES.put(name + "$Key", options -> factory.apply(Side.KEY, options));
    FACTORIES.put(name + "$Value", options -> factory.apply(Side.VALUE, options));
  }

  private static List<SymbolicRecord> identity(final SymbolicRecord record) {
    return List.of(record);
  }

  private static SymbolicTransform hash(final Side side, final ConnectorOptions options) {
    final Optional<String> field = options.text("field.name");
    return record ->
        field.isEmpty()
            ? SymbolicTransform.replaceSide(record, side, FieldTransforms.masked(record.side(side)))
            : SymbolicTransform.onStruct(
                    side,
                    struct ->
                        StructOperations.replace(struct, field.get(), FieldTransforms::masked))
                .apply(record);
  }

  /**
   * Model of a transform whose result depends on the text in the value; other parts of the record
   * stay.
   */
  private static SymbolicTransform valueFromText(final String why) {
    return record ->
        record.value() instanceof SymbolicValue.Absent
            ? List.of(record)
            : List.of(
                record.withValue(SymbolicValue.Unknown.because("The value's " + why + "."), null));
  }

  /**
   * Create the model of a transform; empty if the class is not supported.
   *
   * @param last options of the last transform of that class in the chain
   * @throws UnusableOptionException if the effect of an option is unknown
   */
  static Optional<SymbolicTransform> create(
      final String className, final ConnectorOptions options, final ConnectorOptions last) {
    final Optional<SymbolicTransform> own =
        Optional.ofNullable(FACTORIES.get(className)).map(known -> known.apply(options));
    return sharesOptions(className)
        ? own.map(transform -> transform.or(FACTORIES.get(className).apply(last)))
        : own;
  }

  /**
   * Return true for Iceberg's KafkaMetadataTransform, which up to at least 1.12.0 keeps its options
   * in a static field: all instances in a chain use the options of the last one (apache/iceberg
   * issue 16601). The version of a worker is not known here.
   */
  private static boolean sharesOptions(final String className) {
    return ICEBERG.stream().anyMatch(home -> className.equals(home + KAFKA_METADATA));
  }

  /**
   * Return the fully qualified name of a class. Connect accepts a simple name if it is unambiguous.
   */
  static String qualifiedName(final String className, final Collection<String> others) {
    final List<String> found =
        Stream.concat(FACTORIES.keySet().stream(), others.stream())
            .filter(name -> name.endsWith("." + className))
            .filter(name -> !name.startsWith(ICEBERG.get(1)) && !name.equals(DEBEZIUM_FILTER))
            .toList();
    return found.size() == 1 ? found.get(0) : className;
  }
}
