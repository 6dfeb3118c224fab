// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.converter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.apicurio.registry.rest.client.exception.RestClientException;
import io.apicurio.registry.rest.client.exception.RuleViolationException;
import io.apicurio.registry.utils.converter.AvroConverter;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.ServiceLoader;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.storage.Converter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RegistryAvroConverterTest {
  private static final String TOPIC = "orders";
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
            "apicurio.registry.url",
            registry.url(),
            "apicurio.registry.as-confluent",
            true,
            "apicurio.registry.use-id",
            "contentId",
            "apicurio.registry.headers.enabled",
            false,
            "apicurio.registry.auto-register",
            true,
            "apicurio.registry.auto-register.if-exists",
            "RETURN_OR_UPDATE",
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
  void convertsBothWays() {
    assertThat(converter.fromConnectData(TOPIC, SCHEMA, VALUE)).isEqualTo(BYTES);
    assertThat(converter.fromConnectData(TOPIC, new RecordHeaders(), SCHEMA, VALUE))
        .isEqualTo(BYTES);
    assertThat(read(BYTES)).isEqualTo("chair");
    assertThat(item(converter.toConnectData(TOPIC, BYTES).value())).isEqualTo("chair");
  }

  @Test
  void retriesAnUnreachableRegistryUntilItIsBack() {
    registry.stop();
    configure();
    for (int attempt = 0; attempt < 3; attempt++) {
      assertRetriable(() -> read(BYTES), "ConnectException");
      assertRetriable(() -> write(), "ConnectException");
    }
    registry.start();

    assertThat(read(BYTES)).isEqualTo("chair");
    assertThat(write()).isEqualTo(BYTES);
  }

  @Test
  void convertsCachedSchemasWithoutTheRegistry() {
    read(BYTES);
    write();
    registry.stop();

    assertThat(read(BYTES)).isEqualTo("chair");
    assertThat(write()).isEqualTo(BYTES);
  }

  @ParameterizedTest
  @ValueSource(ints = {429, 500, 502, 503, 504})
  void retriesRateLimitsAndServerErrors(final int status) {
    for (final String body : new String[] {"", "<html>", error(status)}) {
      registry.respondWith(status, body);
      assertRetriable(() -> read(BYTES), "HTTP " + status);
      assertRetriable(() -> write(), "HTTP " + status);
    }
    registry.respondNormally();

    assertThat(read(BYTES)).isEqualTo("chair");
    assertThat(write()).isEqualTo(BYTES);
  }

  @Test
  void retriesATruncatedResponse() {
    registry.respondWith(
        exchange -> {
          exchange.sendResponseHeaders(200, 100);
          exchange.getResponseBody().write('{');
        });
    assertRetriable(() -> read(BYTES), "IOException");
    assertRetriable(() -> write(), "IOException");
    registry.respondNormally();

    assertThat(read(BYTES)).isEqualTo("chair");
    assertThat(write()).isEqualTo(BYTES);
  }

  @Test
  void failsOnAnUnknownSchemaId() {
    assertThatThrownBy(() -> read(wire(255, "\nchair")))
        .isInstanceOf(RestClientException.class)
        .hasMessageContaining("No content with id");
  }

  @Test
  void failsOnAnIncompatibleSchema() {
    registry.respondWith(
        409, LoopbackRegistry.error(409, "RuleViolationException", "Incompatible"));

    assertThatThrownBy(this::write)
        .isInstanceOf(RuleViolationException.class)
        .hasMessageContaining("Incompatible");
  }

  @ParameterizedTest
  @CsvSource({
    "400, io.apicurio.registry.rest.client.exception.RestClientException",
    "401, io.apicurio.rest.client.auth.exception.NotAuthorizedException",
    "403, io.apicurio.rest.client.auth.exception.ForbiddenException"
  })
  void failsOnClientErrors(final int status, final Class<? extends Throwable> expected) {
    registry.respondWith(status, error(status));

    assertThatThrownBy(() -> read(BYTES)).isInstanceOf(expected);
  }

  @Test
  void failsOnAResponseThatIsNotJson() {
    registry.respondWith(200, "<html>");

    assertThat(catchThrowable(this::write)).isNotNull().isNotInstanceOf(RetriableException.class);
  }

  @Test
  void failsOnATruncatedValue() {
    assertThatThrownBy(() -> read(wire(LoopbackRegistry.ID, "\nch")))
        .isInstanceOf(UncheckedIOException.class);
  }

  @Test
  void failsOnBytesWithoutMagicByteWhileTheRegistryIsUnreachable() {
    registry.stop();

    assertThat(catchThrowable(() -> read("no magic byte".getBytes(StandardCharsets.UTF_8))))
        .isNotNull()
        .isNotInstanceOf(RetriableException.class);
  }

  @Test
  void isFoundByServiceLoader() {
    assertThat(ServiceLoader.load(Converter.class))
        .anyMatch(found -> found instanceof RegistryAvroConverter);
    assertThat(converter.config().names()).isEqualTo(new AvroConverter<Object>().config().names());
    assertThat(converter.version()).isEqualTo("unpackaged");
  }

  private void assertRetriable(final Runnable conversion, final String reason) {
    assertThatThrownBy(conversion::run)
        .isInstanceOf(RetriableException.class)
        .hasMessageContaining("schema registry at " + registry.url())
        .hasMessageContaining(reason)
        .hasCauseInstanceOf(RuntimeException.class);
  }

  private Object read(final byte[] bytes) {
    return item(converter.toConnectData(TOPIC, new RecordHeaders(), bytes).value());
  }

  private byte[] write() {
    return converter.fromConnectData(TOPIC, new RecordHeaders(), SCHEMA, VALUE);
  }

  private static Object item(final Object value) {
    return ((Struct) value).get("item");
  }

  private static String error(final int status) {
    return LoopbackRegistry.error(status, "SomeException", "some message");
  }

  /** Encode in Confluent's wire format: magic byte 0, schema id in 4 bytes, Avro. */
  private static byte[] wire(final int id, final String avro) {
    final byte[] value = avro.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(5 + value.length).put((byte) 0).putInt(id).put(value).array();
  }
}
