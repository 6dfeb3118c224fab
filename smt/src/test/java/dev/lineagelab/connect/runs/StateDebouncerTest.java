// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StateDebouncerTest {
  @ParameterizedTest
  @CsvSource({
    "RUNNING, RUNNING",
    "RUNNING PAUSED PAUSED, RUNNING RUNNING PAUSED",
    "RUNNING PAUSED RUNNING STOPPED STOPPED, RUNNING RUNNING RUNNING RUNNING STOPPED",
    "PAUSED PAUSED RUNNING STOPPED STOPPED, PAUSED PAUSED PAUSED PAUSED STOPPED",
    "RUNNING ABSENT RUNNING RUNNING, RUNNING RUNNING RUNNING RUNNING",
    "RUNNING FAILED, RUNNING FAILED",
    "INACTIVE RUNNING, INACTIVE RUNNING",
    "INACTIVE ABSENT RUNNING, INACTIVE INACTIVE RUNNING",
    "FAILED RUNNING RUNNING, FAILED FAILED RUNNING",
  })
  void acceptsRepeatedStatesAndFailuresAtOnce(final String observed, final String accepted) {
    final StateDebouncer debouncer = new StateDebouncer();
    assertThat(
            Arrays.stream(observed.split(" "))
                .map(state -> debouncer.update(AggregateState.valueOf(state)).name())
                .collect(Collectors.joining(" ")))
        .isEqualTo(accepted);
  }
}
