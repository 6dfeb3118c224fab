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
 * What the value of an expression is made of. A call without a rule of its own is a function of its
 * arguments, a user's scalar function too: TRANSFORMATION of each of them.
 */
final class Expressions {
  private static final Set<String> MASKING =
      Set.of("MD5", "SHA1", "SHA2", "SHA224", "SHA256", "SHA384", "SHA512");

  /** What the nodes around an expression know. */
  interface Scope {
    /** The columns that a correlation variable stands for; null where it is not known. */
    List<Column> correlated(CorrelationId id);

    /** What the result of a query within an expression depends on: its columns and its rows. */
    Result query(RexSubQuery query);
  }

  /** The columns of a query, and what decides about its rows. */
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

  /** What the value of this expression is made of. */
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

  /** What all of these are made of, as arguments of a function without a rule. */
  private Column arguments(final Collection<? extends RexNode> expressions) {
    return Column.union(expressions.stream().map(this::column).toList())
        .through(Subtype.TRANSFORMATION);
  }

  private Column field(final RexFieldAccess access) {
    final RexNode whole = access.getReferenceExpr();
    final int place = access.getField().getIndex();
    if (whole instanceof final RexCorrelVariable variable) {
      final List<Column> columns = scope.correlated(variable.id);
      return columns == null || place >= columns.size()
          ? Column.unknown("a reference to the outer query's " + access.getField().getName())
          : columns.get(place);
    }
    final Column column = column(whole);
    return column
        .field(place)
        .orElseGet(
            () ->
                column
                    .through(Subtype.TRANSFORMATION)
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
        return Column.union(columns(operands)).each(Subtype.TRANSFORMATION, false);
      }
      case ROW -> {
        return Column.struct(columns(operands));
      }
      case ITEM -> {
        final Column index = column(operands.get(1)).through(Subtype.TRANSFORMATION);
        return column(operands.get(0)).each(Subtype.TRANSFORMATION, false).with(index);
      }
      default -> {
        // Those that Calcite has no kind for.
      }
    }
    return switch (name) {
      case "TRY_CAST" -> cast(column(operands.get(0)), operands.get(0).getType(), call.getType());
      case "IF" -> choice(operands);
      case "IFNULL", "COALESCE" ->
          Column.union(columns(operands)).each(Subtype.TRANSFORMATION, false);
      default -> arguments(operands).through(Subtype.TRANSFORMATION, MASKING.contains(name));
    };
  }

  /** A cast that only forgets NOT NULL, or that a column carries time, is none. */
  private static Column cast(final Column column, final RelDataType from, final RelDataType to) {
    if (SqlTypeUtil.equalSansNullability(from, to) || isTimeIndicatorOf(from, to)) {
      return column;
    }
    final List<Column> fields = column.fields();
    if (fields == null
        || !from.isStruct()
        || !to.isStruct()
        || fields.size() != to.getFieldCount()) {
      return column.through(Subtype.TRANSFORMATION);
    }
    final List<Column> cast = new ArrayList<>();
    for (final RelDataTypeField field : to.getFieldList()) {
      final int place = field.getIndex();
      final RelDataType before = from.getFieldList().get(place).getType();
      cast.add(cast(fields.get(place), before, field.getType()));
    }
    return Column.struct(cast);
  }

  private static boolean isTimeIndicatorOf(final RelDataType from, final RelDataType to) {
    return from.getSqlTypeName() == to.getSqlTypeName()
        && from.getPrecision() == to.getPrecision()
        && SqlTypeUtil.isDatetime(from);
  }

  /** Operands are condition, value, condition, value, ... and the value of ELSE. */
  private Column choice(final List<RexNode> operands) {
    final List<Column> conditions = new ArrayList<>();
    final List<Column> values = new ArrayList<>();
    for (int place = 0; place < operands.size(); place++) {
      final boolean isValue = place % 2 == 1 || place == operands.size() - 1;
      (isValue ? values : conditions).add(column(operands.get(place)));
    }
    return Column.union(values)
        .each(Subtype.TRANSFORMATION, false)
        .with(Column.union(conditions).deciding(Subtype.CONDITIONAL));
  }

  /**
   * {@code SUM(x) OVER w} arrives as {@code CASE WHEN COUNT(x) OVER w > 0 THEN $SUM0(x) OVER w}: no
   * condition of the user's.
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

  /** The keys of a window decide about this one column: the rows stay what they are. */
  private Column over(final RexOver over) {
    final List<RexNode> keys = new ArrayList<>(over.getWindow().partitionKeys);
    over.getWindow().orderKeys.forEach(key -> keys.add(key.left));
    final Column values = Column.union(columns(over.getOperands()));
    final SqlKind kind = over.getAggOperator().getKind();
    final boolean isMoved = kind == SqlKind.LAG || kind == SqlKind.LEAD;
    final Subtype subtype = isMoved ? Subtype.TRANSFORMATION : Subtype.AGGREGATION;
    return values
        .each(subtype, kind == SqlKind.COUNT)
        .with(Column.union(columns(keys)).deciding(Subtype.WINDOW));
  }

  /** What decides about the rows of a query within an expression decides about this value. */
  private Column query(final RexSubQuery query) {
    final Result result = scope.query(query);
    return switch (query.getKind()) {
      case SCALAR_QUERY -> result.columns().get(0).with(result.rows());
      case EXISTS -> result.rows();
      case IN, SOME ->
          arguments(query.getOperands())
              .with(Column.union(result.columns()).through(Subtype.TRANSFORMATION))
              .with(result.rows());
      default ->
          Column.union(result.columns())
              .through(Subtype.TRANSFORMATION)
              .with(Column.unknown("a query within an expression, of kind " + query.getKind()));
    };
  }
}
