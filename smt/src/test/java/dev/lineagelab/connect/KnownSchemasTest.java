// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.junit.jupiter.api.Test;

class KnownSchemasTest {
  private static final Schema KEY = Schema.STRING_SCHEMA;
  private static final Schema VALUE = struct();
  private static final Schema EQUAL_VALUE = struct();

  private final KnownSchemas known = new KnownSchemas();

  private static Schema struct() {
    return SchemaBuilder.struct().field("a", KEY).build();
  }

  @Test
  void comparesTopicKeyAndValueSchema() {
    known.add("orders", KEY, VALUE);
    assertThat(known.contains("orders", KEY, VALUE)).isTrue();
    assertThat(known.contains("other", KEY, VALUE)).isFalse();
    assertThat(known.contains("orders", null, VALUE)).isFalse();
    assertThat(known.contains("orders", KEY, null)).isFalse();
    assertThat(known.contains(null, KEY, VALUE)).isFalse();
  }

  @Test
  void comparesSchemasByIdentityAndTopicsByContent() {
    known.add("orders", KEY, VALUE);
    assertThat(EQUAL_VALUE).isEqualTo(VALUE);
    assertThat(known.contains("orders", KEY, EQUAL_VALUE)).isFalse();
    assertThat(known.contains(new String("orders"), KEY, VALUE)).isTrue();
  }

  @Test
  void knowsTopicsWithoutSchemas() {
    known.add("orders", null, null);
    assertThat(known.contains("orders", null, null)).isTrue();
    assertThat(known.contains("bids", null, null)).isFalse();
  }

  @Test
  void isEmptyAtFirstAndAfterClear() {
    assertThat(known.contains("orders", null, null)).isFalse();
    known.add("orders", KEY, VALUE);
    known.clear();
    assertThat(known.contains("orders", KEY, VALUE)).isFalse();
  }

  @Test
  void keepsNearlyAllOfAHundredTopics() {
    final Schema[] schemas = new Schema[100];
    for (int topic = 0; topic < schemas.length; topic++) {
      schemas[topic] = struct();
      known.add("table_" + topic, KEY, schemas[topic]);
    }
    int found = 0;
    for (int topic = 0; topic < schemas.length; topic++) {
      found += known.contains("table_" + topic, KEY, schemas[topic]) ? 1 : 0;
    }
    assertThat(found).isGreaterThan(80);
  }
}
