// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.windows;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.avro.shaded.org.apache.avro.generic.GenericRecord;
import org.apache.flink.formats.avro.typeutils.GenericRecordAvroTypeInfo;
import org.apache.flink.metrics.Counter;
import org.apache.flink.util.Collector;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deserializer of orders in the Confluent wire format: magic byte 0, schema id, Avro datum.
 *
 * <p>Drops and counts malformed values. Flink's {@code ConfluentRegistryAvroDeserializationSchema}
 * does not support this: its exceptions do not distinguish a malformed value from an unavailable
 * registry, and it leaves unread bytes of a malformed value in its buffer, which corrupts the next
 * value.
 */
final class AvroOrders implements DeserializationSchema<GenericRecord> {
  static final TypeInformation<GenericRecord> TYPE = new GenericRecordAvroTypeInfo(Schemas.ORDER);

  /** Name of the counter of malformed values. A restart of the source resets it. */
  static final String MALFORMED_METRIC = "orders_unreadable";

  private static final Logger LOG = LoggerFactory.getLogger(AvroOrders.class);
  private static final long serialVersionUID = 1L;
  private static final byte MAGIC = 0;
  private static final int HEADER_BYTES = 1 + Integer.BYTES;

  private final String registry;
  private transient WriterSchemas schemas;
  private transient Counter malformed;

  /**
   * Creates a deserializer.
   *
   * @param registry base URL of the schema registry's API
   */
  AvroOrders(final String registry) {
    this.registry = registry;
  }

  @Override
  public void open(final InitializationContext context) {
    schemas = new WriterSchemas(registry, Schemas.ORDER);
    malformed = context.getMetricGroup().counter(MALFORMED_METRIC);
  }

  /** Deserializes an order. Tombstones and malformed values produce no output. */
  @Override
  public void deserialize(final byte[] value, final Collector<GenericRecord> out)
      throws IOException {
    if (value == null) {
      return;
    }
    final GenericRecord order;
    try {
      order = read(value);
    } catch (MalformedOrderException e) {
      if (malformed.getCount() == 0) {
        LOG.warn(
            "Dropping a malformed order: {}. Further malformed orders are counted, not logged.",
            e.getMessage());
      }
      malformed.inc();
      return;
    }
    out.collect(order);
  }

  @Override
  public GenericRecord deserialize(final byte[] value) throws IOException {
    try {
      return read(value);
    } catch (MalformedOrderException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  @Override
  public boolean isEndOfStream(final GenericRecord order) {
    return false;
  }

  @Override
  public TypeInformation<GenericRecord> getProducedType() {
    return TYPE;
  }

  private GenericRecord read(final byte[] value) throws IOException, MalformedOrderException {
    if (value.length < HEADER_BYTES || value[0] != MAGIC) {
      throw new MalformedOrderException(
          "value has no Confluent header (magic byte 0 and schema id)");
    }
    final int id = ByteBuffer.wrap(value).getInt(1);
    final DatumReader reader = schemas.reader(id);
    try {
      return reader.read(value, HEADER_BYTES);
    } catch (IOException | RuntimeException e) {
      // Avro has no exception type for malformed data: any RuntimeException is possible.
      throw new MalformedOrderException(
          "value does not match its writer schema " + id + " (" + e + ")");
    }
  }
}
