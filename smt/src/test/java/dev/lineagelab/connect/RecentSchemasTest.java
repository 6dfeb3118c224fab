// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.junit.jupiter.api.Test;

class RecentSchemasTest {
  private static final Schema KEY = Schema.STRING_SCHEMA;
  private static final Schema VALUE = SchemaBuilder.struct().field("a", KEY).build();
  private static final Schema EQUAL_VALUE = SchemaBuilder.struct().field("a", KEY).build();

  private final RecentSchemas recent = new RecentSchemas();

  @Test
  void comparesTopicKeyAndValueSchema() {
    recent.add("orders", KEY, VALUE);
    assertThat(recent.contains("orders", KEY, VALUE)).isTrue();
    assertThat(recent.contains("other", KEY, VALUE)).isFalse();
    assertThat(recent.contains("orders", null, VALUE)).isFalse();
    assertThat(recent.contains("orders", KEY, null)).isFalse();
  }

  @Test
  void comparesSchemasByIdentity() {
    recent.add("orders", KEY, VALUE);
    assertThat(EQUAL_VALUE).isEqualTo(VALUE);
    assertThat(recent.contains("orders", KEY, EQUAL_VALUE)).isFalse();
  }

  @Test
  void removesOtherSchemasOfATopic() {
    recent.add("orders", KEY, VALUE);
    recent.add("orders", KEY, null);
    recent.add("bids", KEY, VALUE);
    recent.removeOthers("orders", EQUAL_VALUE);
    assertThat(recent.contains("orders", KEY, VALUE)).isFalse();
    assertThat(recent.contains("orders", KEY, null)).isTrue();
    assertThat(recent.contains("bids", KEY, VALUE)).isTrue();
  }

  @Test
  void keepsTheLastFour() {
    final List<String> topics = List.of("first", "second", "third", "fourth", "fifth");
    topics.forEach(topic -> recent.add(topic, KEY, VALUE));
    assertThat(topics)
        .filteredOn(topic -> recent.contains(topic, KEY, VALUE))
        .containsExactly("second", "third", "fourth", "fifth");
  }
}
