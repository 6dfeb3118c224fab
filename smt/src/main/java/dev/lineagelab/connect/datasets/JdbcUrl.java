// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.UnusableOptionException;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The parts of a JDBC URL that names are made of. User and password, which may be in it too, are
 * left there.
 *
 * @param schema that a table is in whose name has none; empty if that is not known
 * @param hasSchemas whether there is one between a database and its tables
 */
record JdbcUrl(String namespace, String database, String schema, boolean hasSchemas) {
  private static final Pattern URL =
      Pattern.compile(
          "jdbc:(\\w+):(?:thin:)?(?:[^@?;]*@)?(?://)?"
              + "([\\w.\\-:\\[\\]]+)(?:/([\\w.$\\-]*))?([?;].*)?");
  private static final Pattern DATABASE_OPTION =
      Pattern.compile(";\\s*(?:databaseName|database)\\s*=\\s*([^;]+)", Pattern.CASE_INSENSITIVE);

  private record Kind(String scheme, int port, String schema, boolean hasSchemas) {}

  private static final Map<String, Kind> KINDS =
      Map.of(
          "postgresql", new Kind("postgres", 5432, "public", true),
          "mysql", new Kind("mysql", 3306, "", false),
          "mariadb", new Kind("mariadb", 3306, "", false),
          "sqlserver", new Kind("mssql", 1433, "dbo", true),
          "oracle", new Kind("oracle", 1521, "", true),
          "db2", new Kind("db2", 50000, "", true));

  /**
   * Reads a URL.
   *
   * @throws UnusableOptionException it is none of a database that is known
   */
  static JdbcUrl parse(final String url) {
    final Matcher parts = URL.matcher(url);
    final Kind kind = parts.matches() ? KINDS.get(parts.group(1)) : null;
    // A password with a question mark in it would end up in the name.
    if (kind == null || url.contains("@") && !url.split("[?;]", -1)[0].contains("@")) {
      throw new UnusableOptionException("'connection.url' is of no database that is known");
    }
    final String server = parts.group(2);
    final String[] oracle = server.split(":");
    // Oracle's old form has the name of the database behind the port.
    final boolean hasSid = "oracle".equals(kind.scheme) && oracle.length == 3;
    final String address = hasSid ? oracle[0] + ":" + oracle[1] : server;
    final Matcher option = DATABASE_OPTION.matcher(url);
    final String database =
        Optional.ofNullable(parts.group(3))
            .filter(name -> !name.isEmpty())
            .or(() -> option.find() ? Optional.of(option.group(1).strip()) : Optional.empty())
            .or(() -> hasSid ? Optional.of(oracle[2]) : Optional.empty())
            .orElseThrow(() -> new UnusableOptionException("'connection.url' names no database"));
    return new JdbcUrl(
        kind.scheme + "://" + ServerAddress.first(address, kind.port),
        database,
        kind.schema,
        kind.hasSchemas);
  }

  /** The name of a table, which may have that of its schema before it. */
  String tableName(final String table) {
    final String plain = table.replaceAll("[\"`\\[\\]]", "");
    final int names = plain.split("\\.").length;
    if (names > 2 || names == 2 && (!hasSchemas || plain.startsWith(database + "."))) {
      return plain;
    }
    return names == 2 || schema.isEmpty()
        ? database + "." + plain
        : database + "." + schema + "." + plain;
  }
}
