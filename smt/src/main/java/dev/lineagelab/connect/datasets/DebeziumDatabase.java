// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import java.util.List;

/**
 * Database that Debezium captures: the parts of its dataset names and the options that hold them.
 *
 * <p>Postgres is tested; the others follow Debezium's documentation.
 *
 * @param scheme of the dataset namespace
 * @param port default port
 * @param outerNameOptions options; the value of the first that is set precedes a table's path in
 *     the dataset name
 * @param pathLength number of names between the topic prefix and the end of a table's path
 * @param tableListOption option that lists the captured tables
 * @param databaseListOption option that lists databases, whose names start the path; null if there
 *     is none
 */
record DebeziumDatabase(
    String connectorClass,
    String scheme,
    int port,
    List<String> outerNameOptions,
    int pathLength,
    String tableListOption,
    String databaseListOption) {
  static final List<DebeziumDatabase> ALL =
      List.of(
          database("postgresql.PostgresConnector", "postgres", 5432)
              .outerNameOptions("database.dbname")
              .build(),
          database("mysql.MySqlConnector", "mysql", 3306).build(),
          database("mariadb.MariaDbConnector", "mariadb", 3306).build(),
          database("sqlserver.SqlServerConnector", "mssql", 1433)
              .pathLength(3)
              .databaseListOption("database.names")
              .build(),
          database("oracle.OracleConnector", "oracle", 1521)
              .outerNameOptions("database.pdb.name", "database.dbname")
              .build(),
          database("db2.Db2Connector", "db2", 50000).outerNameOptions("database.dbname").build(),
          database("mongodb.MongoDbConnector", "mongodb", 27017)
              .tableListOption("collection.include.list")
              .build());

  private static Builder database(final String className, final String scheme, final int port) {
    return new Builder("io.debezium.connector." + className, scheme, port);
  }

  /** Return false for MongoDB: its documents are JSON text in one field. */
  boolean hasColumns() {
    return !"mongodb".equals(scheme);
  }

  /** Builder with the values of most databases as defaults. */
  private static final class Builder {
    private final String connectorClass;
    private final String scheme;
    private final int port;
    private List<String> outerNameOptions = List.of();
    private int pathLength = 2;
    private String tableListOption = "table.include.list";
    private String databaseListOption;

    Builder(final String connectorClass, final String scheme, final int port) {
      this.connectorClass = connectorClass;
      this.scheme = scheme;
      this.port = port;
    }

    Builder outerNameOptions(final String... options) {
      outerNameOptions = List.of(options);
      return this;
    }

    Builder pathLength(final int length) {
      pathLength = length;
      return this;
    }

    Builder tableListOption(final String option) {
      tableListOption = option;
      return this;
    }

    Builder databaseListOption(final String option) {
      databaseListOption = option;
      return this;
    }

    DebeziumDatabase build() {
      return new DebeziumDatabase(
          connectorClass,
          scheme,
          port,
          outerNameOptions,
          pathLength,
          tableListOption,
          databaseListOption);
    }
  }
}
