// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.tasks;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.junit.jupiter.api.Test;

class SeenSchemasTest {
  private static final long MS = 1_000_000;

  private final SeenSchemas seen = new SeenSchemas();

  private static Schema struct() {
    return SchemaBuilder.struct().field("id", Schema.INT32_SCHEMA).build();
  }

  @Test
  void limitsTheRateOfNewSchemas() {
    int added = 0;
    for (int record = 0; record < 1_000_000; record++) {
      // One record per microsecond: a second in total.
      added += seen.add("topic", null, struct(), record * MS / 1000) ? 1 : 0;
    }
    assertThat(added).isBetween(256, 270);
  }

  @Test
  void acceptsARejectedSchemaLater() {
    for (int record = 0; record < 1000; record++) {
      seen.add("topic", null, struct(), 0);
    }
    final Schema last = struct();
    assertThat(seen.add("topic", null, last, MS)).isFalse();
    assertThat(seen.contains("topic", null, last)).isFalse();
    assertThat(seen.add("topic", null, last, 200 * MS)).isTrue();
    assertThat(seen.contains("topic", null, last)).isTrue();
  }

  @Test
  void comparesSchemasByIdentity() {
    final Schema schema = struct();
    seen.add("topic", null, schema, 0);
    assertThat(seen.contains(new String("topic"), null, schema)).isTrue();
    assertThat(seen.contains("topic", null, struct())).isFalse();
    assertThat(seen.contains("topic", schema, schema)).isFalse();
  }
}
