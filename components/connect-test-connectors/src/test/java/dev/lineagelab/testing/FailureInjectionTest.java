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

class FailureInjectionTest {

  @Test
  void failsAtItsStageAfterItsNumberOfRecords() {
    final FailureInjection failure =
        failure(Map.of("fail.at", "records", "fail.after.records", "2"));
    assertThatCode(() -> failure.at(FailureInjection.Stage.TASK_START, 5))
        .doesNotThrowAnyException();
    assertThatCode(() -> failure.at(FailureInjection.Stage.RECORDS, 1)).doesNotThrowAnyException();
    assertThatThrownBy(() -> failure.at(FailureInjection.Stage.RECORDS, 2))
        .isInstanceOf(ConnectException.class)
        .hasMessage("Failing at records after 2 records, as configured");
  }

  @Test
  void failsOnlyWhileTheFlagExists(@TempDir final Path folder) throws IOException {
    final Path flag = Files.createFile(folder.resolve("flag"));
    final FailureInjection failure =
        failure(Map.of("fail.at", "task_start", "fail.flag", flag.toString()));
    assertThatThrownBy(() -> failure.at(FailureInjection.Stage.TASK_START, 0))
        .isInstanceOf(ConnectException.class);
    Files.delete(flag);
    assertThatCode(() -> failure.at(FailureInjection.Stage.TASK_START, 0))
        .doesNotThrowAnyException();
  }

  @Test
  void rejectsAnUnknownStage() {
    assertThatThrownBy(() -> failure(Map.of("fail.at", "put")))
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("fail.at");
  }

  private static FailureInjection failure(final Map<String, String> given) {
    return FailureInjection.of(FailureInjection.addTo(new ConfigDef()).parse(given));
  }
}
