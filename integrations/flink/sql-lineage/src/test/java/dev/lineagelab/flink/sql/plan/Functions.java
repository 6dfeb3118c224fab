// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.plan;

import org.apache.flink.table.functions.AggregateFunction;
import org.apache.flink.table.functions.ScalarFunction;
import org.apache.flink.table.functions.TableFunction;

/** Functions as a user may bring them: the planner sees their types alone. */
public final class Functions {
  static final String DEFINITIONS =
      """
      CREATE TEMPORARY SYSTEM FUNCTION shout AS '%1$s$Shout';
      CREATE TEMPORARY SYSTEM FUNCTION longest AS '%1$s$Longest';
      CREATE TEMPORARY SYSTEM FUNCTION words AS '%1$s$Words';
      """
          .formatted(Functions.class.getName());

  private Functions() {}

  /** Two texts as one, loudly. */
  public static final class Shout extends ScalarFunction {
    private static final long serialVersionUID = 1L;

    public String eval(final String first, final String second) {
      return first + second + "!";
    }
  }

  /** The words of a text. */
  public static final class Words extends TableFunction<String> {
    private static final long serialVersionUID = 1L;

    public void eval(final String text) {
      for (final String word : text.split(" ")) {
        collect(word);
      }
    }
  }

  /** The longest text so far. */
  public static final class Longest extends AggregateFunction<String, Longest.Seen> {
    private static final long serialVersionUID = 1L;

    /** What is remembered. */
    public static final class Seen {
      public String text = "";
    }

    @Override
    public Seen createAccumulator() {
      return new Seen();
    }

    public void accumulate(final Seen seen, final String text) {
      seen.text = text.length() > seen.text.length() ? text : seen.text;
    }

    @Override
    public String getValue(final Seen seen) {
      return seen.text;
    }
  }
}
