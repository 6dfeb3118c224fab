// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql;

import dev.lineagelab.flink.sql.program.JarProgram;
import dev.lineagelab.flink.sql.program.UnknownLineageError;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;

/** Command that prints the column lineage of the job of a jar's program, as {@link Main} does. */
public final class JarMain {
  static final int OK = 0;
  static final int PROGRAM_FAILED = 1;
  static final int UNKNOWN_LINEAGE = 3;
  static final int USAGE_ERROR = 64;

  private static final String USAGE = "usage: JarMain SCRATCH JAR MAIN_CLASS [ARGUMENT...]";
  private static final int OWN_ARGUMENTS = 3;

  private JarMain() {}

  /**
   * Runs the command. SCRATCH is an empty folder; an empty MAIN_CLASS is that of the jar's
   * manifest. Exit codes: 0 success, 1 the program failed, 3 the lineage of its job is not known,
   * 64 usage error. Errors, and what the program prints, go to stderr.
   */
  public static void main(final String[] arguments) {
    final PrintStream out = System.out;
    System.setOut(System.err);
    System.exit(run(arguments, out, System.err));
  }

  static int run(final String[] arguments, final PrintStream out, final PrintStream err) {
    if (arguments.length < OWN_ARGUMENTS) {
      err.println(USAGE);
      return USAGE_ERROR;
    }
    final Path jar = Path.of(arguments[1]);
    final String[] more = Arrays.copyOfRange(arguments, OWN_ARGUMENTS, arguments.length);
    try {
      final String json =
          JsonDocument.of(JarProgram.describe(jar, arguments[2], more, Path.of(arguments[0])))
              .toString();
      out.writeBytes((json + "\n").getBytes(StandardCharsets.UTF_8));
      out.flush();
      return OK;
    } catch (final UnknownLineageError unknown) {
      err.println(unknown.getMessage());
      return UNKNOWN_LINEAGE;
    } catch (final InvocationTargetException failure) {
      failure.getCause().printStackTrace(err);
      return PROGRAM_FAILED;
    } catch (final IOException | ReflectiveOperationException failure) {
      err.println("Cannot run " + jar + ": " + failure);
      return PROGRAM_FAILED;
    }
  }
}
