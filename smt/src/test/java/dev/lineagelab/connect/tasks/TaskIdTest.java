// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.tasks;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TaskIdTest {
  @ParameterizedTest
  @CsvSource({
    "'[orders|task-3] ', main, orders, 3",
    "'[a|b [c]|task-12] ', main, a|b [c], 12",
    "'[orders|task-1|offsets] ', main, orders, 1",
    "'[orders|worker] ', task-thread-orders-lake-0, orders-lake, 0",
    "'', task-thread-x-1-2, x-1, 2",
  })
  void parsesLoggingContextAndThreadName(
      final String context, final String thread, final String connector, final int task) {
    assertThat(TaskId.parse(context, thread)).contains(new TaskId(connector, task));
  }

  @Test
  void isEmptyOutsideOfATask() {
    assertThat(TaskId.parse("[orders|worker] ", "main")).isEmpty();
    assertThat(TaskId.parse(null, "main")).isEmpty();
  }
}
