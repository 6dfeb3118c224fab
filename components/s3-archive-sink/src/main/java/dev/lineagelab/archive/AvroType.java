// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import java.util.function.UnaryOperator;
import org.apache.avro.Schema;
import org.apache.kafka.connect.errors.DataException;

/**
 * A schema of Connect in Avro.
 *
 * @param conversion a value of Connect (null, if the schema is optional) as Avro's writer takes it
 */
record AvroType(Schema schema, UnaryOperator<Object> conversion) {

  static final AvroType NULL =
      new AvroType(
          Schema.create(Schema.Type.NULL),
          value -> {
            if (value != null) {
              throw new DataException("a value without schema cannot be written as Avro");
            }
            return null;
          });

  Object convert(final Object value) {
    return conversion.apply(value);
  }

  /** The same type, null allowed. */
  AvroType optional() {
    return new AvroType(
        Schema.createUnion(Schema.create(Schema.Type.NULL), schema),
        value -> value == null ? null : conversion.apply(value));
  }
}
