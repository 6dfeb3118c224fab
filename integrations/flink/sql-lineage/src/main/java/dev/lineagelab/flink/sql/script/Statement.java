// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

/**
 * Statement of a script.
 *
 * @param text text without the terminating semicolon
 * @param line line of its first character, from 1
 * @param column column of its first character, from 1
 */
public record Statement(String text, int line, int column) {
  private static final int MAX_SUMMARY_LENGTH = 80;

  /** Returns the beginning of the statement on one line, with secrets redacted, for messages. */
  public String summary() {
    final String bare = Secrets.redacted(StatementSplitter.withoutComments(text));
    final String flat = bare.strip().replaceAll("\\s+", " ");
    return flat.length() <= MAX_SUMMARY_LENGTH
        ? flat
        : flat.substring(0, MAX_SUMMARY_LENGTH) + " ...";
  }
}
