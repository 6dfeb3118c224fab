// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import dev.lineagelab.flink.sql.model.Column;
import dev.lineagelab.flink.sql.model.Subtype;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Aggregate;
import org.apache.calcite.rel.core.Correlate;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.core.Match;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.SetOp;
import org.apache.calcite.rel.core.Snapshot;
import org.apache.calcite.rel.core.Sort;
import org.apache.calcite.rel.core.TableFunctionScan;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rel.core.Uncollect;
import org.apache.calcite.rel.core.Union;
import org.apache.calcite.rel.core.Values;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.rex.RexVisitorImpl;
import org.apache.flink.table.expressions.FieldReferenceExpression;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.calcite.WatermarkAssigner;
import org.apache.flink.table.planner.plan.nodes.calcite.WindowAggregate;

/**
 * Bottom-up traversal of a relational tree that derives the lineage of each node's columns.
 *
 * <p>Indirect dependencies of rows (filters, joins, grouping) are accumulated over the tree, since
 * each of them affects every column of the sink.
 */
final class PlanWalk implements Expressions.Scope {
  private final Sources sources;
  private final Map<CorrelationId, List<Column>> correlated;
  private Column rows = Column.CONSTANT;
  private Column watermarks = Column.CONSTANT;

  PlanWalk(final Sources sources) {
    this(sources, new HashMap<>());
  }

  private PlanWalk(final Sources sources, final Map<CorrelationId, List<Column>> correlated) {
    this.sources = sources;
    this.correlated = correlated;
  }

  /** Returns the indirect dependencies of rows of all visited nodes. */
  Column rows() {
    return rows;
  }

  @Override
  public List<Column> correlated(final CorrelationId id) {
    return correlated.get(id);
  }

  /** A subquery affects the value of its expression, not the rows of the outer query. */
  @Override
  public Expressions.Result query(final RexSubQuery query) {
    final PlanWalk inner = new PlanWalk(sources, correlated);
    final List<Column> columns = inner.visit(query.rel);
    return new Expressions.Result(columns, inner.rows());
  }

  /** Returns the lineage of a node's columns, in order. */
  List<Column> visit(final RelNode node) {
    if (node instanceof final TableScan scan) {
      return sources.scan(scan);
    }
    if (node instanceof Values) {
      return constants(node);
    }
    if (node instanceof final Correlate correlate) {
      return correlate(correlate);
    }
    final List<List<Column>> inputs = node.getInputs().stream().map(this::visit).toList();
    if (node instanceof final SetOp operation) {
      return setOperation(operation, inputs);
    }
    if (node instanceof final Join join) {
      return join(join, inputs.get(0), inputs.get(1));
    }
    if (node instanceof final TableFunctionScan scan) {
      return tableFunction(scan, inputs);
    }
    return inputs.size() == 1 ? single(node, inputs.get(0)) : unknown(node);
  }

  private List<Column> single(final RelNode node, final List<Column> input) {
    if (node instanceof final WatermarkAssigner assigner) {
      watermarks = watermarks.with(expressions(Set.of(), input).column(assigner.watermarkExpr()));
      return input;
    }
    if (node instanceof final Project project) {
      return project(project, input);
    }
    if (node instanceof final Filter filter) {
      return filter(filter, input);
    }
    if (node instanceof final Snapshot snapshot) {
      return snapshot(snapshot, input);
    }
    if (node instanceof final WindowAggregate aggregate) {
      return windowAggregate(aggregate, input);
    }
    if (node instanceof final Aggregate aggregate) {
      return aggregate(aggregate, input);
    }
    if (node instanceof final Sort sort) {
      addRowDependencies(sorted(input, sort.getCollation().getFieldCollations()), Subtype.SORT);
      addWatermarks(EventTime.decides(sort));
      return input;
    }
    if (node instanceof final Uncollect uncollect) {
      // The collection determines the number of rows, like the other side of a join.
      if (!Unnesting.isOfConstantSize(uncollect)) {
        addRowDependencies(input, Subtype.JOIN);
      }
      return Unnesting.of(uncollect, input);
    }
    if (node instanceof final Match match) {
      final PatternMatch pattern = new PatternMatch(match, input, expressions(Set.of(), input));
      rows = rows.with(pattern.rows());
      addWatermarks(EventTime.decides(match));
      return pattern.columns();
    }
    return unknown(node);
  }

  private List<Column> project(final Project project, final List<Column> input) {
    final Expressions expressions = expressions(project.getVariablesSet(), input);
    final List<RexNode> times = LateRows.times(project);
    if (!times.isEmpty()) {
      addRowDependencies(expressions.columns(times), Subtype.FILTER);
    }
    addWatermarks(!times.isEmpty() || EventTime.decides(project));
    return expressions.columns(project.getProjects());
  }

  /**
   * Adds the columns of the watermarks of all sources below, if a node drops rows or state by them.
   */
  private void addWatermarks(final boolean areDecisive) {
    if (areDecisive) {
      addRowDependencies(List.of(watermarks), Subtype.FILTER);
    }
  }

  private void addRowDependencies(final Collection<Column> columns, final Subtype subtype) {
    rows = rows.with(Column.union(columns).indirect(subtype));
  }

  private Expressions expressions(final Set<CorrelationId> variables, final List<Column> input) {
    variables.forEach(id -> correlated.put(id, input));
    return new Expressions(input, this);
  }

  private static List<Column> constants(final RelNode node) {
    return IntStream.range(0, node.getRowType().getFieldCount())
        .mapToObj(index -> Column.CONSTANT)
        .toList();
  }

  /** Marks all columns of an unsupported node as unknown. Its sources are still recorded. */
  private List<Column> unknown(final RelNode node) {
    return unknown(node, "a plan's " + node.getRelTypeName());
  }

  private List<Column> unknown(final RelNode node, final String reason) {
    final Column column = Column.unknown(reason);
    rows = rows.with(column);
    return node.getRowType().getFieldList().stream().map(field -> column).toList();
  }

  /** A condition with a correlation variable is a join condition. */
  private List<Column> filter(final Filter filter, final List<Column> input) {
    final Expressions expressions = expressions(filter.getVariablesSet(), input);
    final Subtype subtype = isCorrelated(filter.getCondition()) ? Subtype.JOIN : Subtype.FILTER;
    addRowDependencies(List.of(expressions.column(filter.getCondition())), subtype);
    return input;
  }

  private static boolean isCorrelated(final RexNode condition) {
    final boolean[] found = new boolean[1];
    condition.accept(
        new RexVisitorImpl<Void>(true) {
          @Override
          public Void visitCorrelVariable(final RexCorrelVariable variable) {
            found[0] = true;
            return null;
          }
        });
    return found[0] && RexUtil.SubQueryFinder.find(condition) == null;
  }

  /** Temporal join: depends on the period and, in event time, on the row time of the versions. */
  private List<Column> snapshot(final Snapshot snapshot, final List<Column> input) {
    final RexNode period = snapshot.getPeriod();
    addRowDependencies(List.of(expressions(Set.of(), input).column(period)), Subtype.JOIN);
    if (FlinkTypeFactory.isRowtimeIndicatorType(period.getType())) {
      final List<Column> versions =
          snapshot.getInput().getRowType().getFieldList().stream()
              .filter(field -> FlinkTypeFactory.isRowtimeIndicatorType(field.getType()))
              .map(field -> input.get(field.getIndex()))
              .toList();
      addRowDependencies(versions, Subtype.JOIN);
      addWatermarks(LateRows.isStreaming(snapshot));
    }
    return input;
  }

  private List<Column> join(final Join join, final List<Column> left, final List<Column> right) {
    final List<Column> both = Stream.concat(left.stream(), right.stream()).toList();
    final Expressions expressions = expressions(join.getVariablesSet(), both);
    addRowDependencies(List.of(expressions.column(join.getCondition())), Subtype.JOIN);
    addWatermarks(EventTime.decides(join));
    return join.getJoinType().projectsRight() ? both : left;
  }

  private List<Column> correlate(final Correlate correlate) {
    final List<Column> left = visit(correlate.getLeft());
    correlated.put(correlate.getCorrelationId(), left);
    final List<Column> right = visit(correlate.getRight());
    final JoinRelType type = correlate.getJoinType();
    return type.projectsRight() ? Stream.concat(left.stream(), right.stream()).toList() : left;
  }

  private List<Column> aggregate(final Aggregate aggregate, final List<Column> input) {
    final List<Column> keys = aggregate.getGroupSet().asList().stream().map(input::get).toList();
    addRowDependencies(keys, Subtype.GROUP_BY);
    addWatermarks(EventTime.decides(aggregate));
    final List<Column> columns = new ArrayList<>(keys);
    aggregate.getAggCallList().forEach(call -> columns.add(Aggregates.column(call, input)));
    return columns;
  }

  /** A group window of the Table API. In event time it drops late rows. */
  private List<Column> windowAggregate(final WindowAggregate aggregate, final List<Column> input) {
    final FieldReferenceExpression attribute = aggregate.getWindow().timeAttribute();
    final Column time = input.get(attribute.getFieldIndex());
    addRowDependencies(List.of(time), Subtype.GROUP_BY);
    final RelNode source = aggregate.getInput();
    final RelDataType type =
        source.getRowType().getFieldList().get(attribute.getFieldIndex()).getType();
    if (LateRows.isStreaming(aggregate) && FlinkTypeFactory.isRowtimeIndicatorType(type)) {
      addRowDependencies(List.of(time), Subtype.FILTER);
      addWatermarks(true);
    }
    final List<Column> columns = new ArrayList<>(aggregate(aggregate, input));
    final Column property = time.derive(Subtype.TRANSFORMATION);
    columns.addAll(Collections.nCopies(aggregate.getNamedProperties().size(), property));
    return columns;
  }

  static List<Column> sorted(final List<Column> input, final List<RelFieldCollation> keys) {
    return keys.stream().map(key -> input.get(key.getFieldIndex())).toList();
  }

  /**
   * Matches columns by position. UNION takes values from all inputs; INTERSECT and EXCEPT take
   * values from the first input, and their rows depend on all columns of all inputs.
   */
  private List<Column> setOperation(final SetOp operation, final List<List<Column>> inputs) {
    final List<Column> columns;
    if (operation instanceof Union) {
      columns = new ArrayList<>();
      for (int index = 0; index < operation.getRowType().getFieldCount(); index++) {
        final int at = index;
        columns.add(Column.union(inputs.stream().map(input -> input.get(at)).toList()));
      }
    } else {
      columns = inputs.get(0);
      inputs.forEach(input -> addRowDependencies(input, Subtype.JOIN));
    }
    if (!operation.all) {
      addRowDependencies(columns, Subtype.GROUP_BY);
    }
    return columns;
  }

  private List<Column> tableFunction(
      final TableFunctionScan scan, final List<List<Column>> inputs) {
    return WindowFunction.of(scan)
        .map(window -> window.columns(inputs.get(0)))
        .orElseGet(() -> opaqueFunction(scan, inputs.stream().flatMap(List::stream).toList()));
  }

  /**
   * Returns the columns of a function whose code is not analysed: each of them, and the number of
   * rows, may depend on every argument, including all columns of a table argument.
   */
  private List<Column> opaqueFunction(final TableFunctionScan scan, final List<Column> input) {
    final Column call = expressions(Set.of(), input).column(scan.getCall());
    final Column arguments = Column.union(input).with(call).derive(Subtype.TRANSFORMATION);
    addRowDependencies(List.of(arguments), Subtype.JOIN);
    return unknown(scan, "the table function " + nameOf(scan.getCall())).stream()
        .map(arguments::with)
        .toList();
  }

  private static String nameOf(final RexNode call) {
    return call instanceof final RexCall function
        ? function.getOperator().getName()
        : call.getType().toString();
  }
}
