// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.converter;

import io.apicurio.registry.serde.SerdeConfig;
import io.apicurio.registry.utils.converter.AvroConverter;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.storage.Converter;

/**
 * Converter between Connect records and Avro: Apicurio's converter and its options, except that an
 * unavailable registry is reported as {@link org.apache.kafka.connect.errors.RetriableException},
 * and that {@value ConfluentSchemaResolver#URL} is the root of the API of a registry with
 * Confluent's API.
 */
public final class RegistryAvroConverter implements Converter {
  private static final String VERSION =
      Objects.requireNonNullElse(
          RegistryAvroConverter.class.getPackage().getImplementationVersion(), "unpackaged");

  private final AvroConverter<Object> apicurio = new AvroConverter<>();

  /** Create a converter; Connect calls {@link #configure} next. */
  public RegistryAvroConverter() {}

  @Override
  public String version() {
    return VERSION;
  }

  @Override
  public ConfigDef config() {
    return apicurio.config();
  }

  /** Set the schema resolver, unless the options specify one. */
  @Override
  public void configure(final Map<String, ?> options, final boolean isKey) {
    final Map<String, Object> completed = new HashMap<>(options);
    completed.putIfAbsent(
        SerdeConfig.SCHEMA_RESOLVER,
        options.containsKey(ConfluentSchemaResolver.URL)
            ? ConfluentSchemaResolver.class
            : RetriableSchemaResolver.class);
    apicurio.configure(completed, isKey);
  }

  @Override
  public byte[] fromConnectData(final String topic, final Schema schema, final Object value) {
    return apicurio.fromConnectData(topic, schema, value);
  }

  @Override
  public byte[] fromConnectData(
      final String topic, final Headers headers, final Schema schema, final Object value) {
    return apicurio.fromConnectData(topic, headers, schema, value);
  }

  @Override
  public SchemaAndValue toConnectData(final String topic, final byte[] value) {
    return apicurio.toConnectData(topic, value);
  }

  @Override
  public SchemaAndValue toConnectData(
      final String topic, final Headers headers, final byte[] value) {
    return apicurio.toConnectData(topic, headers, value);
  }

  @Override
  public void close() {
    apicurio.close();
  }
}
