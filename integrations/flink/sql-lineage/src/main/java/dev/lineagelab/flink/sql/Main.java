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

/** Prints what a script reads and writes: see the package. */
public final class Main {
  static final int DONE = 0;
  static final int BAD_STATEMENT = 2;
  static final int CATALOG_AWAY = 3;
  static final int BAD_USAGE = 64;
  static final int UNREADABLE = 66;

  private static final String USAGE = "usage: Main [SCRIPT.sql | -]";

  private Main() {}

  /** Exits with 0, or says on stderr what is wrong: 2 a statement, 3 a catalog, 64, 66 the call. */
  public static void main(final String[] arguments) {
    final PrintStream out = System.out;
    // The document alone goes there, whatever a connector or a logger prints.
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
      return BAD_USAGE;
    }
    try {
      final Document document = ScriptReader.read(script(arguments, in));
      out.writeBytes(JsonDocument.of(document).toString().getBytes(StandardCharsets.UTF_8));
      out.println();
      out.flush();
      return DONE;
    } catch (final IOException failure) {
      err.println("Cannot read the script: " + failure);
      return UNREADABLE;
    } catch (final ScriptException failure) {
      err.println(failure.getMessage());
      return failure.kind() == ScriptException.Kind.CATALOG ? CATALOG_AWAY : BAD_STATEMENT;
    }
  }

  private static String script(final String[] arguments, final InputStream in) throws IOException {
    return arguments.length == 0 || "-".equals(arguments[0])
        ? new String(in.readAllBytes(), StandardCharsets.UTF_8)
        : Files.readString(Path.of(arguments[0]));
  }
}
