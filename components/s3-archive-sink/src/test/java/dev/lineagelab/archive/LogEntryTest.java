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
      new LogEntry(
          new TopicPartition("orders", 2),
          100,
          199,
          List.of(
              new PlannedObject(
                  "a.json", List.of(new OffsetRange(100, 150), new OffsetRange(152, 199))),
              new PlannedObject("b.json", List.of(new OffsetRange(151, 151)))));

  @Test
  void readsWhatItWrote() {
    assertThat(LogEntry.parse("key", ENTRY.toJson())).isEqualTo(ENTRY);
  }

  @Test
  void isWrittenLikeThis() {
    assertThat(new String(ENTRY.toJson(), StandardCharsets.UTF_8))
        .isEqualTo(
            "{\"version\":1,\"topic\":\"orders\",\"partition\":2,\"start\":100,\"end\":199,\"objects\":["
                + "{\"key\":\"a.json\",\"offsets\":[[100,150],[152,199]]},"
                + "{\"key\":\"b.json\",\"offsets\":[[151,151]]}]}");
  }

  @Test
  void whatIsNoEntryIsNamedWithARemedy() {
    assertUnreadable("{\"version\": 2}", "its version is 2, not 1");
    assertUnreadable("{\"version\": 1}", "it has no field 'objects'");
    assertUnreadable("{", "Unexpected end-of-input");
  }

  private static void assertUnreadable(final String json, final String cause) {
    assertThatThrownBy(() -> LogEntry.parse("topics/x", json.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(ConnectException.class)
        .hasMessageContaining("Reading the archive's log entry topics/x")
        .hasMessageContaining(cause)
        .hasMessageContaining("Set topics.dir to a folder of its own");
  }
}
