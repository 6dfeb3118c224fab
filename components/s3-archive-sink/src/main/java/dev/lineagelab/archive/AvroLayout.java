// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.file.CodecFactory;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.sink.SinkRecord;

/** A container file of records with one Avro schema. */
final class AvroLayout implements RecordFormat.Layout {
  private static final JsonFactory JSON = new JsonFactory();
  private static final JsonValues HEADER_VALUES = new JsonValues(false, false);
  private static final String NAMESPACE = "dev.lineagelab.archive";

  private static final Schema HEADER =
      SchemaBuilder.record("Header")
          .namespace(NAMESPACE)
          .fields()
          .requiredString("key")
          .optionalString("value")
          .endRecord();

  private final Schema schema;
  private final Function<SinkRecord, Object> conversion;
  private final String codec;
  private final GenericDatumWriter<Object> writer;

  private AvroLayout(
      final Schema schema, final Function<SinkRecord, Object> conversion, final String codec) {
    this.schema = schema;
    this.conversion = conversion;
    this.codec = codec;
    this.writer = new GenericDatumWriter<>(schema, new GenericData());
  }

  /** Values alone. */
  static AvroLayout ofValues(final AvroType value, final String codec) {
    return new AvroLayout(value.schema(), record -> value.convert(record.value()), codec);
  }

  /** Values with what the envelope has besides. */
  static AvroLayout ofEnvelopes(
      final Envelope envelope, final AvroType key, final AvroType value, final String codec) {
    final List<Schema.Field> fields = new ArrayList<>();
    if (envelope.hasKey()) {
      fields.add(new Schema.Field("key", key.schema()));
    }
    fields.add(new Schema.Field("value", value.schema()));
    if (envelope.hasHeaders()) {
      fields.add(new Schema.Field("headers", Schema.createArray(HEADER)));
    }
    final Schema schema = Schema.createRecord("Record", null, NAMESPACE, false, fields);
    return new AvroLayout(
        schema,
        record -> {
          final GenericData.Record datum = new GenericData.Record(schema);
          datum.put("value", value.convert(record.value()));
          if (envelope.hasKey()) {
            datum.put("key", key.convert(record.key()));
          }
          if (envelope.hasHeaders()) {
            datum.put("headers", headers(record));
          }
          return datum;
        },
        codec);
  }

  @Override
  public String contentType() {
    return "application/avro";
  }

  @Override
  public byte[] encode(final SinkRecord record) {
    final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      final BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
      writer.write(conversion.apply(record), encoder);
      encoder.flush();
    } catch (final IOException | AvroRuntimeException | ClassCastException e) {
      throw new DataException("it does not fit its schema: " + e.getMessage(), e);
    }
    return bytes.toByteArray();
  }

  @Override
  public byte[] assemble(final String key, final EncodedRecords records) {
    final ByteArrayOutputStream content = new ByteArrayOutputStream();
    try (DataFileWriter<Object> file = new DataFileWriter<>(writer)) {
      file.setCodec(CodecFactory.fromString(codec));
      // By itself the library marks blocks at random, and no two files would be equal.
      file.create(schema, content, syncMarker(key));
      for (int i = 0; i < records.count(); i++) {
        file.appendEncoded(records.record(i));
      }
    } catch (final IOException e) {
      throw new UncheckedIOException("assembling " + key, e);
    }
    return content.toByteArray();
  }

  private static byte[] syncMarker(final String key) {
    try {
      return MessageDigest.getInstance("MD5").digest(key.getBytes(StandardCharsets.UTF_8));
    } catch (final NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has MD5", e);
    }
  }

  private static Object headers(final SinkRecord record) {
    final List<Object> headers = new ArrayList<>();
    for (final Header header : record.headers()) {
      final GenericData.Record datum = new GenericData.Record(HEADER);
      datum.put("key", header.key());
      datum.put("value", text(header));
      headers.add(datum);
    }
    return headers;
  }

  /** Headers of one name may have any type: what is not text becomes JSON. */
  private static String text(final Header header) {
    if (header.value() == null || header.value() instanceof String) {
      return (String) header.value();
    }
    final StringWriter text = new StringWriter();
    try (JsonGenerator json = JSON.createGenerator(text)) {
      HEADER_VALUES.write(json, header.schema(), header.value());
    } catch (final IOException e) {
      throw new DataException("header '" + header.key() + "': " + e.getMessage(), e);
    }
    return text.toString();
  }
}
