// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import dev.lineagelab.flink.sql.model.Write;
import dev.lineagelab.flink.sql.script.Document.Job;
import dev.lineagelab.flink.sql.script.Document.Kind;
import dev.lineagelab.flink.sql.script.Document.ParsedStatement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.internal.TableEnvironmentImpl;
import org.apache.flink.table.catalog.Catalog;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.operations.BeginStatementSetOperation;
import org.apache.flink.table.operations.CreateTableASOperation;
import org.apache.flink.table.operations.EndStatementSetOperation;
import org.apache.flink.table.operations.LoadModuleOperation;
import org.apache.flink.table.operations.ModifyOperation;
import org.apache.flink.table.operations.Operation;
import org.apache.flink.table.operations.ReplaceTableAsOperation;
import org.apache.flink.table.operations.SinkModifyOperation;
import org.apache.flink.table.operations.StatementSetOperation;
import org.apache.flink.table.operations.UnloadModuleOperation;
import org.apache.flink.table.operations.UseOperation;
import org.apache.flink.table.operations.command.AddJarOperation;
import org.apache.flink.table.operations.command.ResetOperation;
import org.apache.flink.table.operations.command.SetOperation;
import org.apache.flink.table.operations.ddl.AlterOperation;
import org.apache.flink.table.operations.ddl.CreateCatalogOperation;
import org.apache.flink.table.operations.ddl.CreateOperation;
import org.apache.flink.table.operations.ddl.CreateTableOperation;
import org.apache.flink.table.operations.ddl.CreateViewOperation;
import org.apache.flink.table.operations.ddl.DropOperation;

/**
 * Parser and analyser of a script. Definitions are executed in a separate session; writes are only
 * analysed.
 */
public final class ScriptReader {
  private final TableEnvironmentImpl session =
      (TableEnvironmentImpl) TableEnvironment.create(EnvironmentSettings.inStreamingMode());
  private final WriteAnalyzer writes = WriteAnalyzer.of(session);
  private final List<ParsedStatement> parts = new ArrayList<>();
  private final Map<String, String> settings = new TreeMap<>();
  private final List<String> views = new ArrayList<>();
  private final List<Job> jobs = new ArrayList<>();

  /** Statement indexes of the open statement set; null outside of one. */
  private List<Integer> openSet;

  private final List<Write> collected = new ArrayList<>();

  private ScriptReader() {}

  /**
   * Analyses a script.
   *
   * @throws ScriptException at the first statement that Flink rejects
   */
  public static Document read(final String script) throws ScriptException {
    final ScriptReader reader = new ScriptReader();
    for (final Statement statement : StatementSplitter.split(script)) {
      try {
        reader.add(statement);
      } catch (final RuntimeException | LinkageError failure) {
        throw PlannerErrors.of(statement, failure);
      }
    }
    return new Document(reader.parts, reader.settings, reader.jobs);
  }

  private void add(final Statement statement) {
    for (final Operation operation : session.getParser().parse(statement.text())) {
      parts.add(new ParsedStatement(kind(statement, operation), statement));
    }
  }

  private Kind kind(final Statement statement, final Operation operation) {
    if (operation instanceof final SetOperation set) {
      set.getKey().ifPresent(key -> set(key, set.getValue().orElse("")));
      return Kind.SETTING;
    }
    if (operation instanceof final ResetOperation reset) {
      reset.getKey().ifPresentOrElse(settings::remove, settings::clear);
      return Kind.SETTING;
    }
    if (operation instanceof BeginStatementSetOperation) {
      openSet = new ArrayList<>(List.of(parts.size()));
      return Kind.BEGIN;
    }
    if (operation instanceof EndStatementSetOperation) {
      openSet.add(parts.size());
      final Stream<String> texts = openSet.stream().map(index -> text(index, statement));
      addJob(openSet, texts, List.copyOf(collected));
      openSet = null;
      collected.clear();
      return Kind.END;
    }
    final List<Write> written = written(operation);
    if (written.isEmpty()) {
      return define(statement, operation) ? Kind.DEFINITION : Kind.OTHER;
    }
    if (openSet == null) {
      addJob(List.of(parts.size()), Stream.of(statement.text()), written);
    } else {
      openSet.add(parts.size());
      collected.addAll(written);
    }
    return Kind.WRITE;
  }

  private String text(final int index, final Statement current) {
    return (index < parts.size() ? parts.get(index).statement() : current).text();
  }

  private void addJob(
      final List<Integer> statements, final Stream<String> texts, final List<Write> written) {
    final String sql = Stream.concat(views.stream(), texts).collect(Collectors.joining(";\n"));
    jobs.add(new Job(List.copyOf(statements), Secrets.redacted(sql), written));
  }

  private void set(final String key, final String value) {
    session.getConfig().set(key, value);
    if (!Secrets.isSecret(key)) {
      settings.put(key, value);
    }
  }

  private List<Write> written(final Operation operation) {
    if (operation instanceof final StatementSetOperation set) {
      return set.getOperations().stream().flatMap(each -> written(each).stream()).toList();
    }
    if (operation instanceof final CreateTableASOperation creation) {
      create(creation.getCreateTableOperation());
      return written(creation.toSinkModifyOperation(session.getCatalogManager()));
    }
    if (operation instanceof final ReplaceTableAsOperation creation) {
      create(creation.getCreateTableOperation());
      return written(creation.toSinkModifyOperation(session.getCatalogManager()));
    }
    if (operation instanceof final SinkModifyOperation write) {
      return List.of(writes.of(write));
    }
    if (operation instanceof ModifyOperation) {
      throw new UnsupportedOperationException(
          "the lineage of this kind of statement is not known: " + operation.asSummaryString());
    }
    return List.of();
  }

  private void create(final CreateTableOperation definition) {
    final CreateTableOperation operation = MissingConnector.replaced(definition);
    session
        .getCatalogManager()
        .createTable(operation.getCatalogTable(), operation.getTableIdentifier(), true);
  }

  /** Executes an operation if it is a definition; returns whether it is. */
  private boolean define(final Statement statement, final Operation operation) {
    if (operation instanceof final CreateCatalogOperation creation) {
      createCatalog(creation);
      return true;
    }
    if (operation instanceof CreateViewOperation) {
      views.add(statement.text());
    }
    final boolean defines =
        operation instanceof CreateOperation
            || operation instanceof AlterOperation
            || operation instanceof DropOperation
            || operation instanceof UseOperation
            || operation instanceof LoadModuleOperation
            || operation instanceof UnloadModuleOperation
            || operation instanceof AddJarOperation;
    if (defines) {
      session.executeInternal(
          operation instanceof final CreateTableOperation creation
              ? MissingConnector.replaced(creation)
              : operation);
    }
    return defines;
  }

  private void createCatalog(final CreateCatalogOperation creation) {
    final String name = creation.getCatalogName();
    if (creation.isIgnoreIfExists() && session.getCatalogManager().getCatalog(name).isPresent()) {
      return;
    }
    final Catalog catalog;
    try {
      catalog =
          FactoryUtil.createCatalog(
              name,
              creation.getProperties(),
              session.getConfig().getConfiguration(),
              Thread.currentThread().getContextClassLoader());
    } catch (final RuntimeException failure) {
      throw new CatalogUnavailableException(name, creation.getProperties(), failure);
    }
    session.registerCatalog(name, new CatalogOverlay(name, catalog));
  }
}
