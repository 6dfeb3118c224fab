// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.UnusableOptionException;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parts of a JDBC URL that occur in dataset names. Never contains user or password.
 *
 * @param schema default schema of tables; empty if unknown
 * @param hasSchemas true if the database has schemas between database and table
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
   * Parse a URL.
   *
   * @throws UnusableOptionException if the database is not supported
   */
  static JdbcUrl parse(final String url) {
    final Matcher parts = URL.matcher(url);
    final Kind kind = parts.matches() ? KINDS.get(parts.group(1)) : null;
    // A password that contains a question mark would become part of the name.
    if (kind == null || url.contains("@") && !url.split("[?;]", -1)[0].contains("@")) {
      throw new UnusableOptionException("the database of 'connection.url' is not supported");
    }
    final String server = parts.group(2);
    final String[] oracle = server.split(":");
    // Oracle's SID syntax has the database name after the port.
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
        kind.scheme + "://" + ServerAddress.hostAndPort(address, kind.port),
        database,
        kind.schema,
        kind.hasSchemas);
  }

  /** Return a name without quotes as the database stores it. */
  String unquoted(final String name) {
    return switch (namespace.substring(0, namespace.indexOf(':'))) {
      case "postgres" -> name.toLowerCase(Locale.ROOT);
      case "oracle", "db2" -> name.toUpperCase(Locale.ROOT);
      default -> name;
    };
  }

  /** Return the full name of a table that may or may not include its schema. */
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
