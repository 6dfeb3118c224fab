// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import dev.lineagelab.flink.sql.model.Column;
import dev.lineagelab.flink.sql.model.Subtype;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexDynamicParam;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexOver;
import org.apache.calcite.rex.RexSubQuery;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.type.SqlTypeUtil;

/**
 * Lineage of row expressions. A call without a specific rule, including user-defined scalar
 * functions, is a TRANSFORMATION of each of its arguments.
 */
final class Expressions {
  private static final Set<String> MASKING =
      Set.of("MD5", "SHA1", "SHA2", "SHA224", "SHA256", "SHA384", "SHA512");

  /** Context of an expression: correlation variables and subqueries. */
  interface Scope {
    /** Returns the columns of a correlation variable; null if it is unknown. */
    List<Column> correlated(CorrelationId id);

    /** Returns the lineage of a subquery. */
    Result query(RexSubQuery query);
  }

  /** Lineage of a subquery: its columns and the indirect dependencies of its rows. */
  record Result(List<Column> columns, Column rows) {}

  private final List<Column> input;
  private final Scope scope;

  Expressions(final List<Column> input, final Scope scope) {
    this.input = input;
    this.scope = scope;
  }

  List<Column> columns(final List<? extends RexNode> expressions) {
    return expressions.stream().map(this::column).toList();
  }

  /** Returns the lineage of an expression. */
  Column column(final RexNode expression) {
    if (expression instanceof final RexInputRef reference) {
      return input.get(reference.getIndex());
    }
    if (expression instanceof RexLiteral || expression instanceof RexDynamicParam) {
      return Column.CONSTANT;
    }
    if (expression instanceof final RexFieldAccess access) {
      return field(access);
    }
    if (expression instanceof final RexOver over) {
      return over(over);
    }
    if (expression instanceof final RexSubQuery query) {
      return query(query);
    }
    if (expression instanceof final RexCall call) {
      return call(call);
    }
    return Column.unknown("an expression of kind " + expression.getClass().getSimpleName());
  }

  /** Returns the lineage of a function call without a specific rule, by its arguments. */
  private Column arguments(final Collection<? extends RexNode> expressions) {
    return Column.union(expressions.stream().map(this::column).toList())
        .derive(Subtype.TRANSFORMATION);
  }

  private Column field(final RexFieldAccess access) {
    final RexNode whole = access.getReferenceExpr();
    final int index = access.getField().getIndex();
    if (whole instanceof final RexCorrelVariable variable) {
      final List<Column> columns = scope.correlated(variable.id);
      return columns == null || index >= columns.size()
          ? Column.unknown("a reference to the outer query's " + access.getField().getName())
          : columns.get(index);
    }
    final Column column = column(whole);
    return column
        .field(index)
        .orElseGet(
            () ->
                column
                    .derive(Subtype.TRANSFORMATION)
                    .with(
                        Column.unknown("the field " + access.getField().getName() + " of a row")));
  }

  private Column call(final RexCall call) {
    final List<RexNode> operands = call.getOperands();
    final String name = call.getOperator().getName().toUpperCase(Locale.ROOT);
    switch (call.getKind()) {
      case CAST, SAFE_CAST, REINTERPRET -> {
        return cast(column(operands.get(0)), operands.get(0).getType(), call.getType());
      }
      case CASE -> {
        return isExpandedSum(operands) ? column(operands.get(1)) : choice(operands);
      }
      case COALESCE, ARRAY_VALUE_CONSTRUCTOR -> {
        return Column.union(columns(operands)).deriveEach(Subtype.TRANSFORMATION, false);
      }
      case ROW -> {
        return Column.struct(columns(operands));
      }
      case ITEM -> {
        final Column index = column(operands.get(1)).derive(Subtype.TRANSFORMATION);
        return column(operands.get(0)).deriveEach(Subtype.TRANSFORMATION, false).with(index);
      }
      default -> {
        // Operators without a SqlKind are matched by name below.
      }
    }
    return switch (name) {
      case "TRY_CAST" -> cast(column(operands.get(0)), operands.get(0).getType(), call.getType());
      case "IF" -> choice(operands);
      case "IFNULL", "COALESCE" ->
          Column.union(columns(operands)).deriveEach(Subtype.TRANSFORMATION, false);
      default -> arguments(operands).derive(Subtype.TRANSFORMATION, MASKING.contains(name));
    };
  }

  /** Ignores casts that only change nullability or remove a time attribute. */
  private static Column cast(final Column column, final RelDataType from, final RelDataType to) {
    if (SqlTypeUtil.equalSansNullability(from, to) || isTimeIndicatorOf(from, to)) {
      return column;
    }
    final List<Column> fields = column.fields();
    if (fields == null
        || !from.isStruct()
        || !to.isStruct()
        || fields.size() != to.getFieldCount()) {
      return column.derive(Subtype.TRANSFORMATION);
    }
    final List<Column> cast = new ArrayList<>();
    for (final RelDataTypeField field : to.getFieldList()) {
      final int index = field.getIndex();
      final RelDataType before = from.getFieldList().get(index).getType();
      cast.add(cast(fields.get(index), before, field.getType()));
    }
    return Column.struct(cast);
  }

  private static boolean isTimeIndicatorOf(final RelDataType from, final RelDataType to) {
    return from.getSqlTypeName() == to.getSqlTypeName()
        && from.getPrecision() == to.getPrecision()
        && SqlTypeUtil.isDatetime(from);
  }

  /** Operands: condition, value, condition, value, ..., value of ELSE. */
  private Column choice(final List<RexNode> operands) {
    final List<Column> conditions = new ArrayList<>();
    final List<Column> values = new ArrayList<>();
    for (int index = 0; index < operands.size(); index++) {
      final boolean isValue = index % 2 == 1 || index == operands.size() - 1;
      (isValue ? values : conditions).add(column(operands.get(index)));
    }
    return Column.union(values)
        .deriveEach(Subtype.TRANSFORMATION, false)
        .with(Column.union(conditions).indirect(Subtype.CONDITIONAL));
  }

  /**
   * Detects {@code CASE WHEN COUNT(x) OVER w > 0 THEN $SUM0(x) OVER w}, the planner's expansion of
   * {@code SUM(x) OVER w}, whose condition is not part of the query.
   */
  private static boolean isExpandedSum(final List<RexNode> operands) {
    if (operands.size() != 3
        || !(operands.get(0) instanceof final RexCall condition)
        || !(operands.get(1) instanceof final RexOver sum)
        || condition.getKind() != SqlKind.GREATER_THAN
        || !(condition.getOperands().get(0) instanceof final RexOver count)) {
      return false;
    }
    return sum.getAggOperator().getKind() == SqlKind.SUM0
        && count.getAggOperator().getKind() == SqlKind.COUNT
        && sum.getOperands().equals(count.getOperands())
        && sum.getWindow().equals(count.getWindow());
  }

  /** The window's keys are indirect dependencies of this column; OVER drops late rows only. */
  private Column over(final RexOver over) {
    final List<RexNode> keys = new ArrayList<>(over.getWindow().partitionKeys);
    over.getWindow().orderKeys.forEach(key -> keys.add(key.left));
    final Column values = Column.union(columns(over.getOperands()));
    final SqlKind kind = over.getAggOperator().getKind();
    final boolean isOffset = kind == SqlKind.LAG || kind == SqlKind.LEAD;
    final Subtype subtype = isOffset ? Subtype.TRANSFORMATION : Subtype.AGGREGATION;
    return values
        .deriveEach(subtype, kind == SqlKind.COUNT)
        .with(Column.union(columns(keys)).indirect(Subtype.WINDOW));
  }

  /** The indirect dependencies of a subquery's rows are dependencies of its value. */
  private Column query(final RexSubQuery query) {
    final Result result = scope.query(query);
    return switch (query.getKind()) {
      case SCALAR_QUERY -> result.columns().get(0).with(result.rows());
      case EXISTS -> result.rows();
      case IN, SOME ->
          arguments(query.getOperands())
              .with(Column.union(result.columns()).derive(Subtype.TRANSFORMATION))
              .with(result.rows());
      default ->
          Column.union(result.columns())
              .derive(Subtype.TRANSFORMATION)
              .with(Column.unknown("a query within an expression, of kind " + query.getKind()));
    };
  }
}
