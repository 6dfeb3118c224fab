// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import dev.lineagelab.flink.sql.model.Write;
import dev.lineagelab.flink.sql.script.Document.Job;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.table.api.StatementSet;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.internal.StatementSetImpl;
import org.apache.flink.table.api.internal.TableEnvironmentImpl;
import org.apache.flink.table.catalog.CatalogManager;
import org.apache.flink.table.operations.ModifyOperation;
import org.apache.flink.table.operations.Operation;
import org.apache.flink.table.operations.SinkModifyOperation;
import org.apache.flink.table.operations.StatementSetOperation;
import org.apache.flink.table.planner.delegation.PlannerBase;

/** Analyser of the job that a program of the Table API is about to submit, in its own session. */
public final class ProgramReader {
  private ProgramReader() {}

  /**
   * Returns the lineage of the job that a statement would submit; empty if it submits none.
   *
   * @throws UnsupportedOperationException if the lineage of this kind of statement is not known
   */
  public static Optional<Document> read(final TableEnvironment session, final String statement) {
    final TableEnvironmentImpl environment = (TableEnvironmentImpl) session;
    return environment.getParser().parse(statement).stream()
        .map(ProgramReader::written)
        .filter(written -> !written.isEmpty())
        .findFirst()
        .map(
            written ->
                document(WriteAnalyzer.of(environment), Secrets.redacted(statement), written));
  }

  /** Returns the lineage of the job of a statement set of this session, which has no text. */
  public static Document read(final TableEnvironment session, final StatementSet set) {
    return document(
        WriteAnalyzer.of((TableEnvironmentImpl) session),
        "",
        ((StatementSetImpl<?>) set).getOperations());
  }

  /**
   * Returns the lineage of the job that a planner is about to translate; its text is not known.
   *
   * @throws UnsupportedOperationException if the lineage of one of the operations is not known
   */
  public static Document read(
      final PlannerBase planner,
      final CatalogManager catalogs,
      final List<ModifyOperation> operations) {
    return document(WriteAnalyzer.of(planner, catalogs), "", operations);
  }

  private static List<ModifyOperation> written(final Operation operation) {
    if (operation instanceof final StatementSetOperation set) {
      return set.getOperations();
    }
    return operation instanceof final ModifyOperation write ? List.of(write) : List.of();
  }

  private static Document document(
      final WriteAnalyzer analyzer, final String sql, final List<ModifyOperation> operations) {
    final List<Write> writes =
        operations.stream().map(operation -> analyzer.of(sinkOf(operation))).toList();
    return new Document(List.of(), Map.of(), List.of(new Job(List.of(), sql, writes)));
  }

  private static SinkModifyOperation sinkOf(final ModifyOperation operation) {
    if (operation instanceof final SinkModifyOperation write) {
      return write;
    }
    throw new UnsupportedOperationException(
        "the lineage of this kind of statement is not known: " + operation.asSummaryString());
  }
}
