// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lineagelab.archive.LogEntry.PlannedObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.errors.ConnectException;
import org.junit.jupiter.api.Test;

class LogEntryTest {
  private static final LogEntry ENTRY =
      LogEntry.of(
          new TopicPartition("orders", 2),
          100,
          199,
          List.of(
              new PlannedObject(
                  "a.json", List.of(new OffsetRange(100, 150), new OffsetRange(152, 199))),
              new PlannedObject("b.json", List.of(new OffsetRange(151, 151)))));

  @Test
  void parsesWhatItWrites() {
    assertThat(LogEntry.parse("key", ENTRY.toJson())).isEqualTo(ENTRY);
  }

  @Test
  void hasAStableJsonFormat() {
    assertThat(new String(ENTRY.toJson(), StandardCharsets.UTF_8))
        .isEqualTo(
            "{\"version\":1,\"topic\":\"orders\",\"partition\":2,\"start\":100,\"end\":199,\"objects\":["
                + "{\"key\":\"a.json\",\"offsets\":[[100,150],[152,199]]},"
                + "{\"key\":\"b.json\",\"offsets\":[[151,151]]}]}");
  }

  @Test
  void rejectsUnreadableEntriesWithARemedy() {
    assertUnreadable("{\"version\": 2}", "expected version 1, found '2'");
    assertUnreadable("{\"version\": 1}", "Missing creator property 'topic'");
    assertUnreadable("{", "Unexpected end-of-input");
    assertUnreadable("[]", "expected version 1, found ''");
    assertUnreadable(
        new String(ENTRY.toJson(), StandardCharsets.UTF_8).replace("[[100,", "[["),
        "Missing creator property");
  }

  private static void assertUnreadable(final String json, final String cause) {
    assertThatThrownBy(() -> LogEntry.parse("topics/x", json.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("Reading log entry topics/x: ")
        .hasMessageContaining(cause)
        .hasMessageContaining("Set topics.dir to an unused folder");
  }
}
