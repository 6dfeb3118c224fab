// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.rest.ConnectRestExtension;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.transforms.Transformation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class OpenLineageTransformTest {

  static List<SinkRecord> records() {
    final SchemaBuilder node = SchemaBuilder.struct().name("node");
    node.field("next", SchemaBuilder.array(node).build());
    return List.of(
        new SinkRecord("topic", 0, null, null, null, null, 0),
        new SinkRecord("topic", 0, Schema.STRING_SCHEMA, "key", null, null, 1),
        new SinkRecord("topic", 0, null, null, null, Map.of("a", List.of(1, "x")), 2),
        new SinkRecord("topic", 0, null, new byte[] {1}, Schema.OPTIONAL_BYTES_SCHEMA, null, 3),
        new SinkRecord("topic", 0, null, null, node.build(), null, 4),
        new SinkRecord(null, 0, null, null, null, null, 5));
  }

  @ParameterizedTest
  @MethodSource("records")
  void returnsTheSameRecord(final SinkRecord record) {
    try (OpenLineageTransform<SinkRecord> transform = new OpenLineageTransform<>()) {
      transform.configure(Map.of("type", "x"));
      assertThat(transform.apply(record)).isSameAs(record);
      assertThat(transform.apply(record)).isSameAs(record);
    }
  }

  @Test
  void returnsNullForNull() {
    try (OpenLineageTransform<SourceRecord> transform = new OpenLineageTransform<>()) {
      transform.configure(Map.of());
      assertThat(transform.apply(null)).isNull();
    }
  }

  @Test
  void passesRecordsOnBeforeConfigureAndAfterClose() {
    final OpenLineageTransform<SinkRecord> transform = new OpenLineageTransform<>();
    final SinkRecord record = records().get(0);
    assertThat(transform.apply(record)).isSameAs(record);
    transform.close();
    transform.close();
    assertThat(transform.apply(record)).isSameAs(record);
  }

  @ParameterizedTest
  @MethodSource("invalidOptions")
  void passesRecordsOnWithInvalidOptions(final Map<String, ?> options) {
    final OpenLineageTransform<SinkRecord> transform = new OpenLineageTransform<>();
    assertThatCode(() -> transform.configure(options)).doesNotThrowAnyException();
    final SinkRecord record = records().get(1);
    assertThat(transform.apply(record)).isSameAs(record);
    transform.close();
  }

  static List<Map<String, ?>> invalidOptions() {
    return List.of(
        Map.of("interval.ms", "soon"),
        Map.of("transport.type", "http"),
        Map.of("transport.uri", "http://localhost:1"));
  }

  @Test
  void isRegisteredWithTheServiceLoader() {
    assertThat(ServiceLoader.load(Transformation.class))
        .anyMatch(transform -> transform instanceof OpenLineageTransform<?>);
    assertThat(ServiceLoader.load(ConnectRestExtension.class))
        .anyMatch(extension -> extension instanceof OpenLineageRestExtension);
  }

  @Test
  void validatesItsOptions() {
    try (OpenLineageTransform<SinkRecord> transform = new OpenLineageTransform<>()) {
      assertThat(transform.config().validate(Map.of("interval.ms", "3")))
          .filteredOn(value -> !value.errorMessages().isEmpty())
          .extracting(value -> value.name())
          .containsExactly("interval.ms");
    }
  }
}
