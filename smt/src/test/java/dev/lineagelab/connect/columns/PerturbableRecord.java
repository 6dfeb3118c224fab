// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.Origin.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.sink.SinkRecord;

/** Record in which the value of each part can be changed. */
record PerturbableRecord(Schema keySchema, Schema valueSchema, boolean isTombstone) {
  private static final int CHANGE = 60;

  SinkRecord record(final Origin changed) {
    final Object value = isTombstone ? null : side(Part.VALUE, valueSchema, 1, changed);
    final SinkRecord record =
        new SinkRecord(
            "t1",
            changes(Part.PARTITION, changed) ? 4 : 3,
            keySchema,
            side(Part.KEY, keySchema, 40, changed),
            valueSchema,
            value,
            changes(Part.OFFSET, changed) ? 6L : 5L,
            changes(Part.TIMESTAMP, changed) ? 8L : 7L,
            TimestampType.CREATE_TIME);
    record.headers().addString("h1", "").addString("h2", "");
    return record;
  }

  private static boolean changes(final Part part, final Origin changed) {
    return changed != null && changed.part() == part;
  }

  private static Object side(
      final Part part, final Schema schema, final int first, final Origin changed) {
    final Map<List<String>, Integer> numbers = RandomSchemas.numbers(schema, first);
    if (changes(part, changed)) {
      numbers.merge(changed.path(), CHANGE, Integer::sum);
    }
    return RandomSchemas.value(schema, numbers);
  }

  List<Origin> origins() {
    final List<Origin> origins = new ArrayList<>();
    RandomSchemas.leaves(keySchema).forEach(path -> origins.add(new Origin(Part.KEY, path)));
    if (!isTombstone) {
      RandomSchemas.leaves(valueSchema).forEach(path -> origins.add(new Origin(Part.VALUE, path)));
    }
    origins.add(Origin.of(Part.PARTITION));
    origins.add(Origin.of(Part.OFFSET));
    origins.add(Origin.of(Part.TIMESTAMP));
    return origins;
  }

  SymbolicRecord symbolic() {
    final SymbolicRecord refined =
        SchemaRefinement.refine(SymbolicRecord.initial("t1"), keySchema, valueSchema);
    final SymbolicRecord known =
        refined.withHeader("h1", true).withHeader("h2", true).withHeader("h3", false);
    return isTombstone
        ? known.withValue(SymbolicValue.ABSENT, true)
        : known.withValue(known.value(), false);
  }
}
