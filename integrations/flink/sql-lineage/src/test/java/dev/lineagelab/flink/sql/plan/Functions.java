// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import org.apache.flink.table.annotation.ArgumentHint;
import org.apache.flink.table.annotation.ArgumentTrait;
import org.apache.flink.table.functions.AggregateFunction;
import org.apache.flink.table.functions.ProcessTableFunction;
import org.apache.flink.table.functions.ScalarFunction;
import org.apache.flink.table.functions.TableFunction;
import org.apache.flink.types.Row;

/** User-defined functions, of which the planner has only the types. */
public final class Functions {
  static final String DEFINITIONS =
      """
      CREATE TEMPORARY SYSTEM FUNCTION shout AS '%1$s$Shout';
      CREATE TEMPORARY SYSTEM FUNCTION longest AS '%1$s$Longest';
      CREATE TEMPORARY SYSTEM FUNCTION words AS '%1$s$Words';
      """
          .formatted(Functions.class.getName());

  private Functions() {}

  /** Scalar function of two arguments. */
  public static final class Shout extends ScalarFunction {
    private static final long serialVersionUID = 1L;

    public String eval(final String first, final String second) {
      return first + second + "!";
    }
  }

  /** Table function. */
  public static final class Words extends TableFunction<String> {
    private static final long serialVersionUID = 1L;

    public void eval(final String text) {
      for (final String word : text.split(" ")) {
        collect(word);
      }
    }
  }

  /** Process table function with a table argument and a scalar argument. */
  public static final class Tagged extends ProcessTableFunction<String> {
    private static final long serialVersionUID = 1L;

    public void eval(
        @ArgumentHint(ArgumentTrait.ROW_SEMANTIC_TABLE) final Row row, final String tag) {
      collect(row + tag);
    }
  }

  /** Aggregate function. */
  public static final class Longest extends AggregateFunction<String, Longest.State> {
    private static final long serialVersionUID = 1L;

    /** Accumulator. */
    public static final class State {
      public String text = "";
    }

    @Override
    public State createAccumulator() {
      return new State();
    }

    public void accumulate(final State state, final String text) {
      state.text = text.length() > state.text.length() ? text : state.text;
    }

    @Override
    public String getValue(final State state) {
      return state.text;
    }
  }
}
