// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Splitter of scripts at semicolons. Semicolons within strings, quoted identifiers, comments and
 * statement sets (BEGIN to END) do not split.
 */
public final class StatementSplitter {
  /**
   * Token pattern. An escaped (doubled) quote matches as two adjacent literals, which is harmless.
   */
  private static final Pattern TOKEN =
      Pattern.compile(
          "(?<quoted>'[^']*(?:'|\\z)|`[^`]*(?:`|\\z)|\"[^\"]*(?:\"|\\z))"
              + "|(?<comment>--[^\\n]*|/\\*(?!\\+).*?(?:\\*/|\\z))"
              + "|(?<word>[\\p{L}_][\\p{L}\\p{N}_$]*)"
              + "|(?<end>;)"
              + "|(?<other>\\S)",
          Pattern.DOTALL);

  /** Index of the group {@code comment}: {@code MatchResult} has no named groups in Java 17. */
  private static final int COMMENT = 2;

  private static final String SET_BEGIN = "STATEMENT SET BEGIN";
  private static final String SET_END = "END";

  private final String script;
  private final List<Statement> statements = new ArrayList<>();
  private final StringBuilder words = new StringBuilder();
  private int start = -1;
  private boolean isInSet;
  private boolean isAfterSemicolon;

  private StatementSplitter(final String script) {
    this.script = script;
  }

  /** Returns the statements of a script, in order, without empty ones. */
  public static List<Statement> split(final String script) {
    final StatementSplitter splitter = new StatementSplitter(script);
    final Matcher token = TOKEN.matcher(script);
    while (token.find()) {
      splitter.accept(token);
    }
    splitter.finish(script.length());
    return splitter.statements;
  }

  /** Replaces each comment by a blank. Hints are kept. */
  static String withoutComments(final String text) {
    return TOKEN
        .matcher(text)
        .replaceAll(
            token -> token.group(COMMENT) == null ? Matcher.quoteReplacement(token.group()) : " ");
  }

  private void accept(final Matcher token) {
    if (token.start("comment") >= 0) {
      return;
    }
    if (token.start("end") >= 0) {
      if (isInSet) {
        isAfterSemicolon = true;
      } else {
        finish(token.start());
      }
      return;
    }
    if (start < 0) {
      start = token.start();
    }
    if (token.start("word") >= 0) {
      word(token.group().toUpperCase(Locale.ROOT));
    }
    isAfterSemicolon = false;
  }

  /**
   * The END of a statement set follows a semicolon; any other END, such as that of CASE, does not.
   */
  private void word(final String word) {
    words.append(' ').append(word);
    if (!isInSet && words.toString().endsWith(SET_BEGIN)) {
      isInSet = true;
    } else if (isInSet && isAfterSemicolon && SET_END.equals(word)) {
      isInSet = false;
    }
  }

  private void finish(final int end) {
    if (start >= 0) {
      final String before = script.substring(0, start);
      final int line = 1 + (int) before.chars().filter(character -> character == '\n').count();
      final int column = start - before.lastIndexOf('\n');
      statements.add(new Statement(script.substring(start, end).stripTrailing(), line, column));
    }
    start = -1;
    isInSet = false;
    isAfterSemicolon = false;
    words.setLength(0);
  }
}
