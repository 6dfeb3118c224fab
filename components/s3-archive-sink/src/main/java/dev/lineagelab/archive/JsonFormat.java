// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.zip.GZIPOutputStream;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.sink.SinkRecord;

/** One JSON document a line; any records may stand in one object. */
final class JsonFormat implements RecordFormat, RecordFormat.Layout {
  private static final JsonFactory FACTORY = new JsonFactory();

  private final JsonValues values;
  private final Envelope envelope;
  private final boolean isGzipped;

  JsonFormat(final JsonValues values, final Envelope envelope, final boolean isGzipped) {
    this.values = values;
    this.envelope = envelope;
    this.isGzipped = isGzipped;
  }

  @Override
  public String extension() {
    return isGzipped ? "json.gz" : "json";
  }

  @Override
  public String contentType() {
    return isGzipped ? "application/gzip" : "application/x-ndjson";
  }

  @Override
  public Layout layoutOf(final SinkRecord record) {
    return this;
  }

  @Override
  public byte[] encode(final SinkRecord record) {
    final ByteArrayOutputStream line = new ByteArrayOutputStream();
    try (JsonGenerator json = FACTORY.createGenerator(line)) {
      if (envelope.isNeeded()) {
        writeEnvelope(json, record);
      } else {
        values.write(json, record.valueSchema(), record.value());
      }
      json.writeRaw('\n');
    } catch (final IOException e) {
      throw new DataException("it cannot be written as JSON: " + e.getMessage(), e);
    }
    return line.toByteArray();
  }

  @Override
  public byte[] assemble(final String key, final EncodedRecords records) {
    if (!isGzipped) {
      return records.toByteArray();
    }
    final ByteArrayOutputStream content = new ByteArrayOutputStream();
    try (OutputStream gzip = new GZIPOutputStream(content)) {
      gzip.write(records.toByteArray());
    } catch (final IOException e) {
      throw new UncheckedIOException("compressing " + key, e);
    }
    return content.toByteArray();
  }

  private void writeEnvelope(final JsonGenerator json, final SinkRecord record) throws IOException {
    json.writeStartObject();
    if (envelope.hasKey()) {
      json.writeFieldName("key");
      values.write(json, record.keySchema(), record.key());
    }
    json.writeFieldName("value");
    values.write(json, record.valueSchema(), record.value());
    if (envelope.hasHeaders()) {
      json.writeArrayFieldStart("headers");
      for (final Header header : record.headers()) {
        json.writeStartObject();
        json.writeStringField("key", header.key());
        json.writeFieldName("value");
        values.write(json, header.schema(), header.value());
        json.writeEndObject();
      }
      json.writeEndArray();
    }
    json.writeEndObject();
  }
}
