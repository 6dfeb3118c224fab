// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.observe;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.MDC;

/**
 * Which task it is. Connect tells a transform in no way that all its versions have: it is in the
 * logging context while a task is made, and in the thread's name while it runs.
 */
public record TaskName(String connector, int task) {
  private static final String CONTEXT = "connector.context";
  private static final Pattern IN_CONTEXT = Pattern.compile("\\[(.+)\\|task-(\\d+)[^\\]]*]\\s*");
  private static final Pattern IN_THREAD = Pattern.compile("task-thread-(.+)-(\\d+)");

  /** The task that the calling thread works for. */
  static Optional<TaskName> current() {
    return of(MDC.get(CONTEXT), Thread.currentThread().getName());
  }

  static Optional<TaskName> of(final String context, final String thread) {
    return parse(IN_CONTEXT, context).or(() -> parse(IN_THREAD, thread));
  }

  private static Optional<TaskName> parse(final Pattern pattern, final String text) {
    final Matcher matcher = pattern.matcher(text == null ? "" : text);
    return matcher.matches()
        ? Optional.of(new TaskName(matcher.group(1), Integer.parseInt(matcher.group(2))))
        : Optional.empty();
  }
}
