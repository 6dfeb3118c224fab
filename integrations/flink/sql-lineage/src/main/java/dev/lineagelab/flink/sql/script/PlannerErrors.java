// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.table.catalog.exceptions.CatalogException;

/** Makes one clear message of what the planner says in a chain of exceptions. */
final class Failures {
  private static final Pattern POSITION = Pattern.compile("line ([1-9]\\d*), column (\\d+)");
  private static final Pattern WHERE =
      Pattern.compile(
          "\\s*(?:at|[Ff]rom) line \\d+, column \\d+(?: to line \\d+, column \\d+)?\\s*[:.]?\\s*");

  /** Where the parser begins to list each word that it would have taken. */
  private static final String WISHES = "Was expecting";

  private Failures() {}

  static ScriptException of(final Statement statement, final Throwable failure) {
    final List<String> messages = messages(failure);
    final String place =
        messages.stream()
            .map(POSITION::matcher)
            .filter(Matcher::find)
            .findFirst()
            .map(found -> place(statement, found))
            .orElse("line " + statement.line() + ", column " + statement.column());
    final String cause = WHERE.matcher(messages.get(messages.size() - 1)).replaceAll(" ").strip();
    final String why =
        failure instanceof CatalogUnavailableException ? messages.get(0) + ": " + cause : cause;
    return new ScriptException(
        kind(failure), "%s: %s%n  in: %s".formatted(place, why, statement.summary()), failure);
  }

  /** What the planner counts from the statement's first character is counted from the script's. */
  private static String place(final Statement statement, final Matcher found) {
    final int line = Integer.parseInt(found.group(1));
    final int column = Integer.parseInt(found.group(2));
    return "line %d, column %d"
        .formatted(
            statement.line() + line - 1, line == 1 ? statement.column() + column - 1 : column);
  }

  private static List<String> messages(final Throwable failure) {
    final List<String> messages = new ArrayList<>();
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      final String message = cause.getMessage();
      if (message != null && !message.isBlank()) {
        messages.add(Secrets.redacted(message.split(WISHES, 2)[0].strip()));
      }
    }
    return messages.isEmpty() ? List.of(failure.getClass().getName()) : messages;
  }

  private static ScriptException.Kind kind(final Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof CatalogException) {
        return ScriptException.Kind.CATALOG;
      }
    }
    return ScriptException.Kind.STATEMENT;
  }
}
