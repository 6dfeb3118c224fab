// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.tasks;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.MDC;

/**
 * Task of a connector. No API that all Connect versions share passes it to a transform: it is read
 * from the logging context while a task is created, and from the thread's name while it runs.
 */
public record TaskId(String connector, int task) {
  private static final String CONTEXT = "connector.context";
  private static final Pattern IN_CONTEXT = Pattern.compile("\\[(.+)\\|task-(\\d+)[^\\]]*]\\s*");
  private static final Pattern IN_THREAD = Pattern.compile("task-thread-(.+)-(\\d+)");

  /** Task that the calling thread belongs to. */
  static Optional<TaskId> current() {
    return parse(MDC.get(CONTEXT), Thread.currentThread().getName());
  }

  static Optional<TaskId> parse(final String context, final String thread) {
    return match(IN_CONTEXT, context).or(() -> match(IN_THREAD, thread));
  }

  private static Optional<TaskId> match(final Pattern pattern, final String text) {
    final Matcher matcher = pattern.matcher(text == null ? "" : text);
    return matcher.matches()
        ? Optional.of(new TaskId(matcher.group(1), Integer.parseInt(matcher.group(2))))
        : Optional.empty();
  }
}
