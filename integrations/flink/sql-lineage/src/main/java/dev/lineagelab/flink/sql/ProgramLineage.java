// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql;

import dev.lineagelab.flink.sql.script.ProgramReader;
import org.apache.flink.table.api.StatementSet;
import org.apache.flink.table.api.TableEnvironment;

/**
 * Column lineage of the job that a program of the Table API is about to submit, as JSON of the
 * package documentation, without statements and settings. PyFlink programs call it over their
 * gateway.
 */
public final class ProgramLineage {
  private ProgramLineage() {}

  /**
   * Returns the lineage of the job that a statement would submit; null if it submits none.
   *
   * @throws UnsupportedOperationException if the lineage of this kind of statement is not known
   */
  public static String ofStatement(final TableEnvironment session, final String statement) {
    return ProgramReader.read(session, statement)
        .map(document -> JsonDocument.of(document).toString())
        .orElse(null);
  }

  /** Returns the lineage of the job of a statement set of this session. */
  public static String ofSet(final TableEnvironment session, final StatementSet set) {
    return JsonDocument.of(ProgramReader.read(session, set)).toString();
  }
}
