// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.table.catalog.exceptions.CatalogException;

/** Converter of planner exceptions into error messages with a position in the script. */
final class PlannerErrors {
  private static final Pattern POSITION = Pattern.compile("line ([1-9]\\d*), column (\\d+)");
  private static final Pattern LOCATION =
      Pattern.compile(
          "\\s*(?:at|[Ff]rom) line \\d+, column \\d+(?: to line \\d+, column \\d+)?\\s*[:.]?\\s*");

  /** Start of the parser's list of expected tokens, which is cut from messages. */
  private static final String EXPECTED_TOKENS = "Was expecting";

  private PlannerErrors() {}

  static ScriptException of(final Statement statement, final Throwable failure) {
    final List<String> messages = messages(failure);
    final String position =
        messages.stream()
            .map(POSITION::matcher)
            .filter(Matcher::find)
            .findFirst()
            .map(found -> position(statement, found))
            .orElse("line " + statement.line() + ", column " + statement.column());
    final String cause =
        LOCATION.matcher(messages.get(messages.size() - 1)).replaceAll(" ").strip();
    final String why =
        failure instanceof CatalogUnavailableException ? messages.get(0) + ": " + cause : cause;
    return new ScriptException(
        kind(failure), "%s: %s%n  in: %s".formatted(position, why, statement.summary()), failure);
  }

  /** Converts a position relative to the statement into one relative to the script. */
  private static String position(final Statement statement, final Matcher found) {
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
        messages.add(Secrets.redacted(message.split(EXPECTED_TOKENS, 2)[0].strip()));
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
