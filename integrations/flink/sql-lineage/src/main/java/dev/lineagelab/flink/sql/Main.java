// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql;

import dev.lineagelab.flink.sql.script.Document;
import dev.lineagelab.flink.sql.script.ScriptException;
import dev.lineagelab.flink.sql.script.ScriptReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Command that prints the column lineage of a script as JSON; see the package documentation. */
public final class Main {
  static final int OK = 0;
  static final int INVALID_STATEMENT = 2;
  static final int CATALOG_UNAVAILABLE = 3;
  static final int USAGE_ERROR = 64;
  static final int UNREADABLE_SCRIPT = 66;

  private static final String USAGE = "usage: Main [SCRIPT.sql | -]";

  private Main() {}

  /**
   * Runs the command. Exit codes: 0 success, 2 invalid statement, 3 unavailable catalog, 64 usage
   * error, 66 unreadable script. Errors are printed to stderr.
   */
  public static void main(final String[] arguments) {
    final PrintStream out = System.out;
    // Connectors and loggers may print to System.out; stdout carries the document alone.
    System.setOut(System.err);
    System.exit(run(arguments, System.in, out, System.err));
  }

  static int run(
      final String[] arguments,
      final InputStream in,
      final PrintStream out,
      final PrintStream err) {
    if (arguments.length > 1) {
      err.println(USAGE);
      return USAGE_ERROR;
    }
    try {
      final Document document = ScriptReader.read(script(arguments, in));
      out.writeBytes(JsonDocument.of(document).toString().getBytes(StandardCharsets.UTF_8));
      out.println();
      out.flush();
      return OK;
    } catch (final IOException failure) {
      err.println("Cannot read the script: " + failure);
      return UNREADABLE_SCRIPT;
    } catch (final ScriptException failure) {
      err.println(failure.getMessage());
      return failure.kind() == ScriptException.Kind.CATALOG
          ? CATALOG_UNAVAILABLE
          : INVALID_STATEMENT;
    }
  }

  private static String script(final String[] arguments, final InputStream in) throws IOException {
    return arguments.length == 0 || "-".equals(arguments[0])
        ? new String(in.readAllBytes(), StandardCharsets.UTF_8)
        : Files.readString(Path.of(arguments[0]));
  }
}
