// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import dev.lineagelab.flink.sql.model.Write;
import java.util.List;
import java.util.Map;

/**
 * All that is told of a script.
 *
 * @param settings what SET gives a value, without secrets
 */
public record Document(List<Part> statements, Map<String, String> settings, List<Job> jobs) {
  /** What a statement is for. */
  public enum Kind {
    /** SET and RESET. */
    SETTING,
    /** CREATE, ALTER, DROP, USE, and what else prepares the session. */
    DEFINITION,
    /** INSERT, EXECUTE STATEMENT SET, CREATE TABLE AS: it is a job, or a part of one. */
    WRITE,
    /** BEGIN STATEMENT SET. */
    BEGIN,
    /** END of a statement set. */
    END,
    /** What shows or asks something. */
    OTHER
  }

  /** A statement and what it is for. */
  public record Part(Kind kind, Statement statement) {}

  /**
   * What Flink runs as one job.
   *
   * @param statements places in {@link Document#statements}, counted from 0
   * @param sql its text and that of the views before it, without secrets
   */
  public record Job(List<Integer> statements, String sql, List<Write> writes) {}
}
