// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

/**
 * One statement of a script.
 *
 * @param text without the semicolon that ends it
 * @param line of its first character in the script, counted from 1
 * @param column of its first character in that line, counted from 1
 */
public record Statement(String text, int line, int column) {
  private static final int LONGEST_SUMMARY = 80;

  /** Its beginning, in one line, without secrets, for messages. */
  public String summary() {
    final String bare = Secrets.redacted(StatementSplitter.withoutComments(text));
    final String flat = bare.strip().replaceAll("\\s+", " ");
    return flat.length() <= LONGEST_SUMMARY ? flat : flat.substring(0, LONGEST_SUMMARY) + " ...";
  }
}
