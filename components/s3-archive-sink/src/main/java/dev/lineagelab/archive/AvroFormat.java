// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.sink.SinkRecord;

/** Avro container files: one schema an object. */
final class AvroFormat implements RecordFormat {
  /** Schemas that are remembered; a topic rarely has more than a few versions at a time. */
  private static final int MAX_LAYOUTS = 1_000;

  private record Schemas(Schema key, Schema value) {

    private boolean isSame(final Schema otherKey, final Schema otherValue) {
      return key == otherKey && value == otherValue;
    }
  }

  private final String codec;
  private final Envelope envelope;
  private final Map<Schemas, AvroLayout> layouts = new HashMap<>();

  /** To compare schemas is costly, and the same instances mostly come again. */
  private Schemas latest;

  private AvroLayout latestLayout;

  /**
   * No schema seen yet.
   *
   * @param codec as Avro's library calls it
   */
  AvroFormat(final String codec, final Envelope envelope) {
    this.codec = codec.trim();
    this.envelope = envelope;
  }

  @Override
  public String extension() {
    return "avro";
  }

  @Override
  public Layout layoutOf(final SinkRecord record) {
    if (record.value() != null && record.valueSchema() == null) {
      throw new DataException(
          "its value has no schema, which Avro needs: set value.converter to one with schemas, or "
              + Options.FORMAT_CLASS
              + " to JsonFormat");
    }
    if (envelope.hasKey() && record.key() != null && record.keySchema() == null) {
      throw new DataException(
          "its key has no schema, which Avro needs: set key.converter to one with schemas, such as "
              + "StringConverter, or "
              + Options.STORE_KEYS
              + " to false");
    }
    final Schema keySchema = envelope.hasKey() && record.key() != null ? record.keySchema() : null;
    final Schema valueSchema = record.value() == null ? null : record.valueSchema();
    if (latest == null || !latest.isSame(keySchema, valueSchema)) {
      final Schemas schemas = new Schemas(keySchema, valueSchema);
      if (layouts.size() >= MAX_LAYOUTS && !layouts.containsKey(schemas)) {
        layouts.clear();
      }
      latestLayout = layouts.computeIfAbsent(schemas, this::layout);
      latest = schemas;
    }
    return Objects.requireNonNull(latestLayout);
  }

  private AvroLayout layout(final Schemas schemas) {
    final AvroTypes types = new AvroTypes();
    final AvroType value =
        schemas.value() == null ? AvroType.NULL : types.of(schemas.value(), "Value");
    if (!envelope.isNeeded()) {
      return AvroLayout.ofValues(value, codec);
    }
    final AvroType key = schemas.key() == null ? AvroType.NULL : types.of(schemas.key(), "Key");
    return AvroLayout.ofEnvelopes(envelope, key, value, codec);
  }
}
