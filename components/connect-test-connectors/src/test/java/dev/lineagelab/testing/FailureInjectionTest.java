// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.testing;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.connect.errors.ConnectException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FailureTest {

  @Test
  void itIsAtOneStageAndAfterSoManyRecords() {
    final Failure failure = failure(Map.of("fail.at", "records", "fail.after.records", "2"));
    assertThatCode(() -> failure.at(Failure.Stage.TASK_START, 5)).doesNotThrowAnyException();
    assertThatCode(() -> failure.at(Failure.Stage.RECORDS, 1)).doesNotThrowAnyException();
    assertThatThrownBy(() -> failure.at(Failure.Stage.RECORDS, 2))
        .isInstanceOf(ConnectException.class)
        .hasMessage("Failing at records after 2 records, as the test wants it");
  }

  @Test
  void itEndsWhenItsFlagIsTakenAway(@TempDir final Path folder) throws IOException {
    final Path flag = Files.createFile(folder.resolve("flag"));
    final Failure failure = failure(Map.of("fail.at", "task_start", "fail.flag", flag.toString()));
    assertThatThrownBy(() -> failure.at(Failure.Stage.TASK_START, 0))
        .isInstanceOf(ConnectException.class);
    Files.delete(flag);
    assertThatCode(() -> failure.at(Failure.Stage.TASK_START, 0)).doesNotThrowAnyException();
  }

  @Test
  void aStageThatThereIsNotIsRefused() {
    assertThatThrownBy(() -> failure(Map.of("fail.at", "put"))).isInstanceOf(ConfigException.class);
  }

  private static Failure failure(final Map<String, String> given) {
    return Failure.of(Failure.addTo(new ConfigDef()).parse(given));
  }
}
