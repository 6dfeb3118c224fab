// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import static org.apache.flink.table.api.Expressions.$;
import static org.apache.flink.table.api.Expressions.call;
import static org.apache.flink.table.api.Expressions.lit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.lineagelab.flink.sql.ProgramLineage;
import dev.lineagelab.flink.sql.RenderedLineage;
import dev.lineagelab.flink.sql.model.Write;
import java.util.List;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.Over;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.Slide;
import org.apache.flink.table.api.StatementSet;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.TableDescriptor;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.Tumble;
import org.apache.flink.table.functions.ScalarFunction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ProgramReaderTest {
  private static final String DEFAULT = "'connector' = 'blackhole'";

  private final TableEnvironment session =
      TableEnvironment.create(EnvironmentSettings.inStreamingMode());

  /** Function of the user. */
  public static final class Joined extends ScalarFunction {
    private static final long serialVersionUID = 1L;

    /** Returns both texts. */
    public String eval(final String one, final String other) {
      return one + other;
    }
  }

  @BeforeEach
  void defineTables() {
    session.executeSql(
        """
        CREATE TEMPORARY TABLE orders (
          order_id STRING, item STRING, price INT, bid_time TIMESTAMP(3),
          shown AS bid_time, proc AS PROCTIME(), WATERMARK FOR bid_time AS bid_time
        ) WITH ('connector' = 'datagen')
        """);
    session.executeSql(
        "CREATE TEMPORARY TABLE items (name STRING, maker STRING) WITH ('connector' = 'datagen')");
    session.executeSql("CREATE TEMPORARY TABLE texts (a STRING, b STRING) WITH (" + DEFAULT + ")");
    session.executeSql("CREATE TEMPORARY TABLE numbers (a STRING, n INT) WITH (" + DEFAULT + ")");
    session.executeSql(
        "CREATE TEMPORARY TABLE windows (a STRING, n INT, t TIMESTAMP(3)) WITH (" + DEFAULT + ")");
    session.createTemporarySystemFunction("joined", Joined.class);
  }

  private List<String> lineage(final Table table, final String sink) {
    return RenderedLineage.lines(
        writes(session.createStatementSet().addInsert(sink, table)).get(0));
  }

  private List<Write> writes(final StatementSet set) {
    return ProgramReader.read(session, set).jobs().get(0).writes();
  }

  @Test
  void derivesColumnsOfExpressionsAndFunctions() {
    final Table table =
        session
            .from("orders")
            .filter($("price").isGreater(10))
            .select($("order_id"), call("joined", $("item"), $("order_id")));
    assertThat(lineage(table, "texts"))
        .containsExactly(
            "a <- orders.order_id IDENTITY",
            "b <- orders.item TRANSFORMATION, orders.order_id TRANSFORMATION",
            "rows <- orders.price FILTER");
  }

  @Test
  void followsViewsThatAreMadeOfTables() {
    session.createTemporaryView(
        "cheap", session.from("orders").select($("item"), $("price").plus(1).as("more")));
    final Table table = session.sqlQuery("SELECT item, more FROM cheap WHERE item LIKE 'a%'");
    assertThat(lineage(table, "numbers"))
        .containsExactly(
            "a <- orders.item IDENTITY",
            "n <- orders.price TRANSFORMATION",
            "rows <- orders.item FILTER");
  }

  @Test
  void derivesColumnsOfJoinsAndGroups() {
    final Table joined =
        session
            .from("orders")
            .join(session.from("items"), $("item").isEqual($("name")))
            .groupBy($("maker"))
            .select($("maker"), $("price").sum());
    assertThat(lineage(joined, "numbers"))
        .containsExactly(
            "a <- items.maker IDENTITY",
            "n <- orders.price AGGREGATION",
            "rows <- orders.item JOIN, items.maker GROUP_BY, items.name JOIN");
  }

  @Test
  void lateRowsOfGroupWindowsDependOnTheirTime() {
    final Table windows =
        session
            .from("orders")
            .window(Tumble.over(lit(5).seconds()).on($("bid_time")).as("w"))
            .groupBy($("w"), $("item"))
            .select($("item"), $("price").max(), $("w").start());
    assertThat(lineage(windows, "windows"))
        .containsExactly(
            "a <- orders.item IDENTITY",
            "n <- orders.price AGGREGATION",
            "t <- orders.bid_time TRANSFORMATION",
            "rows <- orders.bid_time GROUP_BY, orders.bid_time FILTER, orders.item GROUP_BY");
  }

  @Test
  void groupWindowsOfProcessingTimeHaveNoLateRows() {
    final Table windows =
        session
            .from("orders")
            .window(Slide.over(lit(5).seconds()).every(lit(1).second()).on($("proc")).as("w"))
            .groupBy($("w"), $("item"))
            .select($("item"), $("price").max());
    assertThat(lineage(windows, "numbers"))
        .containsExactly(
            "a <- orders.item IDENTITY",
            "n <- orders.price AGGREGATION",
            "rows <- orders.item GROUP_BY");
  }

  @Test
  void derivesColumnsOfOverWindows() {
    final Table over =
        session
            .from("orders")
            .window(Over.partitionBy($("item")).orderBy($("proc")).as("w"))
            .select($("item"), $("price").sum().over($("w")));
    assertThat(lineage(over, "numbers"))
        .contains("n <- orders.item WINDOW, orders.price AGGREGATION");
  }

  @Test
  void readsAllWritesOfASetAndAnonymousTables() {
    final TableDescriptor sink =
        TableDescriptor.forConnector("filesystem")
            .schema(Schema.newBuilder().column("text", DataTypes.STRING()).build())
            .option("path", "file:///texts")
            .format("json")
            .build();
    final StatementSet set =
        session
            .createStatementSet()
            .addInsertSql("INSERT INTO texts SELECT item, order_id FROM orders")
            .addInsert(sink, session.from("items").select($("maker")));
    final List<Write> writes = writes(set);
    assertThat(RenderedLineage.lines(writes.get(0))).contains("a <- orders.item IDENTITY");
    assertThat(writes.get(1).sink().connector()).isEqualTo("filesystem");
    assertThat(writes.get(1).sink().options()).containsEntry("path", "file:///texts");
    assertThat(RenderedLineage.lines(writes.get(1))).contains("text <- items.maker IDENTITY");
  }

  @Test
  void readsStatementsThatSubmitJobs() {
    final String insert = "INSERT INTO texts SELECT item, order_id FROM orders";
    assertThat(ProgramLineage.ofStatement(session, insert)).contains("\"sql\":\"" + insert + "\"");
    assertThat(
            ProgramLineage.ofStatement(
                session, "EXECUTE STATEMENT SET BEGIN " + insert + "; " + insert + "; END"))
        .contains("\"writes\":[{");
    assertThat(ProgramLineage.ofSet(session, session.createStatementSet().addInsertSql(insert)))
        .contains("\"sql\":\"\"");
  }

  @Test
  void otherStatementsSubmitNone() {
    assertThat(ProgramLineage.ofStatement(session, "SHOW TABLES")).isNull();
    assertThat(ProgramLineage.ofStatement(session, "CREATE DATABASE other")).isNull();
    assertThat(session.listDatabases()).doesNotContain("other");
  }

  @Test
  void rejectsStatementsOfUnknownLineage() {
    assertThatThrownBy(
            () ->
                ProgramLineage.ofStatement(
                    session, "CREATE TABLE made WITH (" + DEFAULT + ") AS SELECT * FROM items"))
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("is not known");
  }
}
