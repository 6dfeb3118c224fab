// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import java.util.List;

/**
 * A database that Debezium captures: how it is addressed, and what names of its tables are made of.
 *
 * <p>Postgres was run; the others follow Debezium's documentation.
 *
 * @param scheme of its namespace
 * @param port that is meant where none is given
 * @param outerNames options of which the first that is given comes before a table's path in the
 *     dataset's name
 * @param pathLength how many names lead from the topic's prefix to the table
 * @param include option with the tables that are captured
 * @param databases option with databases whose names come first in the path; null if there is none
 */
record DebeziumDatabase(
    String connectorClass,
    String scheme,
    int port,
    List<String> outerNames,
    int pathLength,
    String include,
    String databases) {
  private static final String TABLES = "table.include.list";
  private static final String PACKAGE = "io.debezium.connector.";

  static final List<DebeziumDatabase> ALL =
      List.of(
          new DebeziumDatabase(
              PACKAGE + "postgresql.PostgresConnector",
              "postgres",
              5432,
              List.of("database.dbname"),
              2,
              TABLES,
              null),
          new DebeziumDatabase(
              PACKAGE + "mysql.MySqlConnector", "mysql", 3306, List.of(), 2, TABLES, null),
          new DebeziumDatabase(
              PACKAGE + "mariadb.MariaDbConnector", "mariadb", 3306, List.of(), 2, TABLES, null),
          new DebeziumDatabase(
              PACKAGE + "sqlserver.SqlServerConnector",
              "mssql",
              1433,
              List.of(),
              3,
              TABLES,
              "database.names"),
          new DebeziumDatabase(
              PACKAGE + "oracle.OracleConnector",
              "oracle",
              1521,
              List.of("database.pdb.name", "database.dbname"),
              2,
              TABLES,
              null),
          new DebeziumDatabase(
              PACKAGE + "db2.Db2Connector",
              "db2",
              50000,
              List.of("database.dbname"),
              2,
              TABLES,
              null),
          new DebeziumDatabase(
              PACKAGE + "mongodb.MongoDbConnector",
              "mongodb",
              27017,
              List.of(),
              2,
              "collection.include.list",
              null));

  /** Documents come as one text of JSON, so that their fields are no fields of the record. */
  boolean hasColumns() {
    return !"mongodb".equals(scheme);
  }
}
