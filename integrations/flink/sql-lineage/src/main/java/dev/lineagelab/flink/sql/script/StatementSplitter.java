// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Splits a script at its semicolons, but not at those within strings, quoted names, comments, or
 * between BEGIN and END of a statement set.
 */
public final class StatementSplitter {
  /** Quotes are escaped by doubling: two literals side by side then look like one, to no harm. */
  private static final Pattern TOKEN =
      Pattern.compile(
          "(?<quoted>'[^']*(?:'|\\z)|`[^`]*(?:`|\\z)|\"[^\"]*(?:\"|\\z))"
              + "|(?<comment>--[^\\n]*|/\\*(?!\\+).*?(?:\\*/|\\z))"
              + "|(?<word>[\\p{L}_][\\p{L}\\p{N}_$]*)"
              + "|(?<end>;)"
              + "|(?<other>\\S)",
          Pattern.DOTALL);

  /** The group of that name, which a match result does not know by it. */
  private static final int COMMENT = 2;

  private static final String SET_OPENS = "STATEMENT SET BEGIN";
  private static final String SET_CLOSES = "END";

  private final String script;
  private final List<Statement> found = new ArrayList<>();
  private final StringBuilder words = new StringBuilder();
  private int start = -1;
  private boolean isInSet;
  private boolean isAfterSemicolon;

  private StatementSplitter(final String script) {
    this.script = script;
  }

  /** The statements of a script, in order; none for what is empty but for comments. */
  public static List<Statement> split(final String script) {
    final StatementSplitter splitter = new StatementSplitter(script);
    final Matcher token = TOKEN.matcher(script);
    while (token.find()) {
      splitter.take(token);
    }
    splitter.finish(script.length());
    return splitter.found;
  }

  /** The text with a blank for each comment. Hints stay: they are no comments. */
  static String withoutComments(final String text) {
    return TOKEN
        .matcher(text)
        .replaceAll(
            token -> token.group(COMMENT) == null ? Matcher.quoteReplacement(token.group()) : " ");
  }

  private void take(final Matcher token) {
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

  /** Any other END, of a CASE say, does not follow a semicolon. */
  private void word(final String word) {
    words.append(' ').append(word);
    if (!isInSet && words.toString().endsWith(SET_OPENS)) {
      isInSet = true;
    } else if (isInSet && isAfterSemicolon && SET_CLOSES.equals(word)) {
      isInSet = false;
    }
  }

  private void finish(final int end) {
    if (start >= 0) {
      final String before = script.substring(0, start);
      final int line = 1 + (int) before.chars().filter(character -> character == '\n').count();
      final int column = start - before.lastIndexOf('\n');
      found.add(new Statement(script.substring(start, end).stripTrailing(), line, column));
    }
    start = -1;
    isInSet = false;
    isAfterSemicolon = false;
    words.setLength(0);
  }
}
