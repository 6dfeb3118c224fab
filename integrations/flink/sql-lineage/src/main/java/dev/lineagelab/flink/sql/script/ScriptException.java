// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

/** Error in a script, or in a catalog that it requires. The message is meant for its author. */
public final class ScriptException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Cause of the error. */
  public enum Kind {
    /** The statement does not parse or validate. */
    STATEMENT,
    /** A required catalog is unavailable. */
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
