// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.tasks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
    assertThat(added).isBetween(SeenSchemas.BURST, SeenSchemas.BURST + 11);
  }

  @Test
  void acceptsARejectedSchemaLater() {
    for (int record = 0; record < SeenSchemas.BURST; record++) {
      seen.add("topic", null, struct(), 0);
    }
    final Schema last = struct();
    assertThat(seen.add("topic", null, last, MS)).isFalse();
    assertThat(seen.contains("topic", null, last)).isFalse();
    assertThat(seen.add("topic", null, last, 200 * MS)).isTrue();
    assertThat(seen.contains("topic", null, last)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5, 65, 100, 1000})
  void knowsAllTopicsOfATask(final int topics) {
    final List<Schema> schemas = Stream.generate(SeenSchemasTest::struct).limit(topics).toList();
    for (int topic = 0; topic < topics; topic++) {
      assertThat(seen.add("server.public.table_" + topic, null, schemas.get(topic), 0)).isTrue();
      assertThat(seen.add("schemaless_" + topic, null, null, 0)).isTrue();
    }
    for (int topic = 0; topic < topics; topic++) {
      assertThat(seen.contains("server.public.table_" + topic, null, schemas.get(topic))).isTrue();
      assertThat(seen.contains("schemaless_" + topic, null, null)).isTrue();
      assertThat(seen.contains("schemaless_" + topic, null, schemas.get(topic))).isFalse();
    }
  }

  @Test
  void isBounded() {
    final Schema first = struct();
    seen.add("topic", null, first, 0);
    for (int kind = 0; kind < SeenSchemas.MAX_KINDS; kind++) {
      seen.add("topic", null, struct(), kind * 1000 * MS);
    }
    assertThat(seen.contains("topic", null, first)).isFalse();
    assertThat(seen.add("topic", null, first, Long.MAX_VALUE / 2)).isTrue();
    assertThat(seen.contains("topic", null, first)).isTrue();
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
