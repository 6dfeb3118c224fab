// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.converter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.errors.RetriableException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The converter with a registry that has Confluent's API only. */
class ConfluentSchemaResolverTest {
  private static final Schema SCHEMA =
      SchemaBuilder.struct().name("V").field("item", Schema.STRING_SCHEMA).build();
  private static final Struct VALUE = new Struct(SCHEMA).put("item", "chair");
  private static final byte[] BYTES = wire(LoopbackRegistry.ID, "\nchair");

  private final LoopbackRegistry registry = new LoopbackRegistry();
  private final RegistryAvroConverter converter = new RegistryAvroConverter();

  @BeforeEach
  void configure() {
    converter.configure(
        Map.of(
            "schema.registry.url",
            registry.confluentUrl(),
            "apicurio.registry.as-confluent",
            true,
            "apicurio.registry.use-id",
            "contentId",
            "apicurio.registry.headers.enabled",
            false,
            "apicurio.registry.artifact-resolver-strategy",
            "io.apicurio.registry.serde.strategy.TopicIdStrategy"),
        false);
  }

  @AfterEach
  void close() {
    converter.close();
    registry.close();
  }

  @Test
  void convertsBothWaysAndRegistersTheSchemaOnceForEachTopic() {
    assertThat(write("orders")).isEqualTo(BYTES);
    assertThat(write("orders")).isEqualTo(BYTES);
    assertThat(write("bids")).isEqualTo(BYTES);
    assertThat(read(BYTES)).isEqualTo("chair");

    assertThat(registry.registrations()).hasSize(2);
    assertThat(registry.registrations().get(0))
        .startsWith("/confluent/subjects/orders-value/versions ")
        .contains("\\\"name\\\":\\\"item\\\"");
    assertThat(registry.registrations().get(1)).startsWith("/confluent/subjects/bids-value/");
  }

  @Test
  void convertsCachedSchemasWithoutTheRegistry() {
    read(BYTES);
    write("orders");
    registry.stop();

    assertThat(read(BYTES)).isEqualTo("chair");
    assertThat(write("orders")).isEqualTo(BYTES);
  }

  @Test
  void retriesAnUnreachableRegistryUntilItIsBack() {
    registry.stop();
    assertRetriable(() -> read(BYTES), "ConnectException");
    assertRetriable(() -> write("orders"), "ConnectException");
    registry.start();

    assertThat(read(BYTES)).isEqualTo("chair");
    assertThat(write("orders")).isEqualTo(BYTES);
  }

  @ParameterizedTest
  @ValueSource(ints = {429, 500, 503})
  void retriesRateLimitsAndServerErrors(final int status) {
    registry.respondWith(status, "busy");
    assertRetriable(() -> read(BYTES), "HTTP " + status);
    assertRetriable(() -> write("orders"), "HTTP " + status);
    registry.respondNormally();

    assertThat(read(BYTES)).isEqualTo("chair");
  }

  @Test
  void failsOnARejectedSchemaWithTheMessageOfTheRegistry() {
    registry.respondWith(409, "{\"error_code\": 409, \"message\": \"incompatible schema\"}");

    assertThatThrownBy(() -> write("orders"))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("/subjects/orders-value/versions with status 409")
        .hasMessageContaining("incompatible schema");
  }

  @Test
  void failsOnAnUnknownSchemaId() {
    assertThatThrownBy(() -> read(wire(255, "\nchair")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining("/schemas/ids/255 with status 404");
  }

  @ParameterizedTest
  @ValueSource(strings = {"<html>", "{}", "[]", ""})
  void failsOnAResponseThatIsNotTheApis(final String body) {
    registry.respondWith(200, body);

    assertThat(catchThrowable(() -> read(BYTES))).isInstanceOf(DataException.class);
    assertThat(catchThrowable(() -> write("orders"))).isInstanceOf(DataException.class);
  }

  private void assertRetriable(final Runnable conversion, final String reason) {
    assertThatThrownBy(conversion::run)
        .isInstanceOf(RetriableException.class)
        .hasMessageContaining("schema registry at " + registry.confluentUrl())
        .hasMessageContaining(reason)
        .hasMessageContaining("schema.registry.url");
  }

  private Object read(final byte[] bytes) {
    return ((Struct) converter.toConnectData("orders", new RecordHeaders(), bytes).value())
        .get("item");
  }

  private byte[] write(final String topic) {
    return converter.fromConnectData(topic, new RecordHeaders(), SCHEMA, VALUE);
  }

  /** Encode in Confluent's wire format: magic byte 0, schema id in 4 bytes, Avro. */
  private static byte[] wire(final int id, final String avro) {
    final byte[] value = avro.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(5 + value.length).put((byte) 0).putInt(id).put(value).array();
  }
}
