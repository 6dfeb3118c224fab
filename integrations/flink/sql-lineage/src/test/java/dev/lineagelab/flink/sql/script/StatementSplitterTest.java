// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class StatementSplitterTest {
  private static List<String> texts(final String script) {
    return StatementSplitter.split(script).stream().map(Statement::text).toList();
  }

  @Test
  void splitsAtSemicolons() {
    assertThat(texts("SET 'a' = 'b';\nUSE x ;; INSERT INTO t SELECT 1"))
        .containsExactly("SET 'a' = 'b'", "USE x", "INSERT INTO t SELECT 1");
  }

  @Test
  void ignoresQuotedSemicolons() {
    assertThat(texts("SELECT ';', 'it''s;', `a;``b;`; SELECT 2"))
        .containsExactly("SELECT ';', 'it''s;', `a;``b;`", "SELECT 2");
  }

  @Test
  void ignoresSemicolonsInComments() {
    assertThat(texts("-- one; two\nSELECT 1 -- a ' quote;\n+ 2 /* more; */;\n/* all; */ -- x"))
        .containsExactly("SELECT 1 -- a ' quote;\n+ 2 /* more; */");
  }

  @Test
  void keepsHints() {
    assertThat(texts("SELECT 1 /*+ OPTIONS('a;b'='c') */; SELECT 2"))
        .containsExactly("SELECT 1 /*+ OPTIONS('a;b'='c') */", "SELECT 2");
  }

  @Test
  void keepsAStatementSetTogether() {
    final String set =
        """
        execute statement  set -- both
        BEGIN
          INSERT INTO a SELECT CASE b WHEN 1 THEN 2 END FROM c;
          INSERT INTO d SELECT 1 AS `END`;
        end\
        """;
    assertThat(texts(set + ";\nSELECT 1;")).containsExactly(set, "SELECT 1");
  }

  @Test
  void splitsBeginStatementSet() {
    assertThat(texts("BEGIN STATEMENT SET; INSERT INTO a SELECT 1; END;"))
        .containsExactly("BEGIN STATEMENT SET", "INSERT INTO a SELECT 1", "END");
  }

  @Test
  void reportsStatementPositions() {
    assertThat(StatementSplitter.split("-- first\n\n  SELECT 1;  SELECT\n2"))
        .containsExactly(new Statement("SELECT 1", 3, 3), new Statement("SELECT\n2", 3, 14));
  }

  @Test
  void ignoresEmptyStatements() {
    assertThat(texts("")).isEmpty();
    assertThat(texts(" ;\n-- nothing\n;")).isEmpty();
  }

  @Test
  void keepsUnterminatedTokens() {
    assertThat(texts("SELECT 'a; SELECT 2")).containsExactly("SELECT 'a; SELECT 2");
    assertThat(texts("SELECT /* a; SELECT 2")).containsExactly("SELECT /* a; SELECT 2");
  }
}
