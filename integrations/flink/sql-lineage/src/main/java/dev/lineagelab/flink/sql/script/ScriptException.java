// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

/** A script that cannot be read, and why, for the one who wrote it. */
public final class ScriptException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Whose fault it is. */
  public enum Kind {
    /** The statement does not parse or validate. */
    STATEMENT,
    /** A catalog that it needs gives no answer. */
    CATALOG
  }

  private final Kind kind;

  public ScriptException(final Kind kind, final String message, final Throwable cause) {
    super(message, cause);
    this.kind = kind;
  }

  public Kind kind() {
    return kind;
  }
}
