// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.program;

import dev.lineagelab.flink.sql.script.ProgramReader;
import java.util.List;
import java.util.Set;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.catalog.CatalogManager;
import org.apache.flink.table.delegation.Planner;
import org.apache.flink.table.delegation.PlannerFactory;
import org.apache.flink.table.operations.ModifyOperation;
import org.apache.flink.table.planner.delegation.StreamPlanner;

/**
 * Factory of planners that describe the first job that they are to translate. {@link
 * ProgramClassLoader} lets programs find it in place of Flink's own.
 */
public final class DescribingPlannerFactory implements PlannerFactory {
  @Override
  public String factoryIdentifier() {
    return DEFAULT_IDENTIFIER;
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of();
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return Set.of();
  }

  @Override
  public Planner create(final Context context) {
    return new DescribingPlanner(context);
  }

  /** Plans batch programs as streams: their columns are the same, and late rows are not dropped. */
  @SuppressWarnings("overrides") // Scala's variable arguments
  private static final class DescribingPlanner extends StreamPlanner {
    private final CatalogManager catalogs;

    DescribingPlanner(final Context context) {
      super(
          context.getExecutor(),
          context.getTableConfig(),
          context.getModuleManager(),
          context.getFunctionCatalog(),
          context.getCatalogManager(),
          context.getClassLoader());
      catalogs = context.getCatalogManager();
    }

    @Override
    public List<Transformation<?>> translate(final List<ModifyOperation> operations) {
      try {
        throw new DescribedError(ProgramReader.read(this, catalogs, operations));
      } catch (final UnsupportedOperationException unknown) {
        throw new UnknownLineageError(unknown.getMessage());
      }
    }
  }
}
