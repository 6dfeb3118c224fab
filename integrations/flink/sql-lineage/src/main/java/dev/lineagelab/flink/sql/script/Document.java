// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import dev.lineagelab.flink.sql.model.Write;
import java.util.List;
import java.util.Map;

/**
 * Statements, settings and jobs of a script, with their lineage.
 *
 * @param settings values of SET, without secrets
 */
public record Document(
    List<ParsedStatement> statements, Map<String, String> settings, List<Job> jobs) {
  /** Kind of a statement. */
  public enum Kind {
    /** SET and RESET. */
    SETTING,
    /** CREATE, ALTER, DROP, USE and other changes of the session. */
    DEFINITION,
    /** INSERT, EXECUTE STATEMENT SET, CREATE TABLE AS: a job or a part of one. */
    WRITE,
    /** BEGIN STATEMENT SET. */
    BEGIN,
    /** END of a statement set. */
    END,
    /** SHOW, DESCRIBE and other queries. */
    OTHER
  }

  /** Statement with its kind. */
  public record ParsedStatement(Kind kind, Statement statement) {}

  /**
   * Statements that Flink runs as one job.
   *
   * @param statements indexes into {@link Document#statements}, from 0
   * @param sql SQL text, preceded by that of the views, with secrets redacted
   */
  public record Job(List<Integer> statements, String sql, List<Write> writes) {}
}
