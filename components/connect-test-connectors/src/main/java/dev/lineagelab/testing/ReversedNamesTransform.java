// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.testing;

import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Field;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.transforms.Transformation;

/** Transform that reverses the field names of a struct, which no lineage rule anticipates. */
public final class ReversedNamesTransform<R extends ConnectRecord<R>> implements Transformation<R> {
  private Schema seen;
  private Schema reversed;

  /** Create an unconfigured instance, as Connect requires. */
  public ReversedNamesTransform() {}

  @Override
  public R apply(final R record) {
    if (!(record.value() instanceof Struct value)) {
      return record;
    }
    if (value.schema() != seen) {
      seen = value.schema();
      reversed = reversed(seen);
    }
    final Struct result = new Struct(reversed);
    seen.fields().forEach(field -> result.put(backwards(field), value.get(field)));
    return record.newRecord(
        record.topic(),
        record.kafkaPartition(),
        record.keySchema(),
        record.key(),
        reversed,
        result,
        record.timestamp());
  }

  private static Schema reversed(final Schema schema) {
    final SchemaBuilder builder = SchemaBuilder.struct().name(schema.name());
    schema.fields().forEach(field -> builder.field(backwards(field), field.schema()));
    return builder.build();
  }

  private static String backwards(final Field field) {
    return new StringBuilder(field.name()).reverse().toString();
  }

  @Override
  public ConfigDef config() {
    return new ConfigDef();
  }

  @Override
  public void configure(final Map<String, ?> given) {
    // No options.
  }

  @Override
  public void close() {
    // No resources to release.
  }
}
