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
 * Orders in Confluent's wire format: a byte 0, the id of the writer's schema, the Avro datum.
 *
 * <p>A value that cannot be read is left out and counted. Flink's own {@code
 * ConfluentRegistryAvroDeserializationSchema} cannot be told to: what it throws does not say
 * whether the value is broken or the registry is away, and what is left of a broken value in its
 * buffer becomes the beginning of the next one.
 */
final class AvroOrders implements DeserializationSchema<GenericRecord> {
  static final TypeInformation<GenericRecord> TYPE = new GenericRecordAvroTypeInfo(Schemas.ORDER);

  /** How many values could not be read since the source was started. */
  static final String UNREADABLE = "orders_unreadable";

  private static final Logger LOG = LoggerFactory.getLogger(AvroOrders.class);
  private static final long serialVersionUID = 1L;
  private static final byte MAGIC = 0;
  private static final int HEADER_BYTES = 1 + Integer.BYTES;

  private final String registry;
  private transient WriterSchemas schemas;
  private transient Counter unreadable;

  /**
   * Reads orders.
   *
   * @param registry the root of the registry's API
   */
  AvroOrders(final String registry) {
    this.registry = registry;
  }

  @Override
  public void open(final InitializationContext context) {
    schemas = new WriterSchemas(registry, Schemas.ORDER);
    unreadable = context.getMetricGroup().counter(UNREADABLE);
  }

  /** A record without a value says that its key is gone: it is no order. */
  @Override
  public void deserialize(final byte[] value, final Collector<GenericRecord> out)
      throws IOException {
    if (value == null) {
      return;
    }
    final GenericRecord order;
    try {
      order = read(value);
    } catch (UnreadableException e) {
      if (unreadable.getCount() == 0) {
        LOG.warn("Leaving out an order, and all others that cannot be read: {}", e.getMessage());
      }
      unreadable.inc();
      return;
    }
    out.collect(order);
  }

  @Override
  public GenericRecord deserialize(final byte[] value) throws IOException {
    try {
      return read(value);
    } catch (UnreadableException e) {
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

  private GenericRecord read(final byte[] value) throws IOException, UnreadableException {
    if (value.length < HEADER_BYTES || value[0] != MAGIC) {
      throw new UnreadableException("its value does not begin with the id of a schema");
    }
    final int id = ByteBuffer.wrap(value).getInt(1);
    final DatumReader reader = schemas.reader(id);
    try {
      return reader.read(value, HEADER_BYTES);
    } catch (IOException | RuntimeException e) {
      // Whatever Avro throws: it has no type of its own for bytes that make no sense.
      throw new UnreadableException(
          "its value does not fit schema " + id + ", its own (" + e + ")");
    }
  }
}
