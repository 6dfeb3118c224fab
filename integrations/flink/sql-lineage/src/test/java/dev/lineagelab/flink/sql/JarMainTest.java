// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compiles programs into jars and describes their jobs. */
class JarMainTest {
  private static final String TABLES =
      """
      session.executeSql("CREATE TEMPORARY TABLE orders (id BIGINT, word STRING) WITH ('connector' = 'datagen')");
      session.executeSql("CREATE TEMPORARY TABLE loud (id BIGINT, word STRING) WITH ('connector' = 'print')");
      """;
  private static final String STREAMING =
      "TableEnvironment session = TableEnvironment.create(EnvironmentSettings.inStreamingMode());";
  private static final String BATCH =
      "TableEnvironment session = TableEnvironment.create(EnvironmentSettings.inBatchMode());";

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @TempDir Path folder;
  private Path jar;

  @BeforeEach
  void nameJar() {
    jar = folder.resolve("program.jar");
  }

  /** Writes a jar whose program has these statements. */
  private void program(final String statements) throws IOException {
    final Path source = folder.resolve("Program.java");
    Files.writeString(
        source,
        """
        package example;
        import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
        import org.apache.flink.table.api.*;
        import org.apache.flink.table.functions.ScalarFunction;
        import static org.apache.flink.table.api.Expressions.*;
        public class Program {
          public static class Shout extends ScalarFunction {
            public String eval(String text) { return text + "!"; }
          }
          public static void main(String[] arguments) throws Exception {
            System.out.println("given " + String.join(" ", arguments));
            %s
          }
        }
        """
            .formatted(statements));
    final Path classes = Files.createDirectories(folder.resolve("classes"));
    final int failed =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "-cp",
                System.getProperty("java.class.path"),
                "-d",
                classes.toString(),
                source.toString());
    assertThat(failed).isZero();
    final Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, "example.Program");
    try (JarOutputStream written = new JarOutputStream(Files.newOutputStream(jar), manifest);
        Stream<Path> files = Files.walk(classes)) {
      for (final Path file : files.filter(Files::isRegularFile).toList()) {
        written.putNextEntry(new JarEntry(classes.relativize(file).toString()));
        written.write(Files.readAllBytes(file));
      }
    }
  }

  private int describe(final String mainClass) throws IOException {
    final Path scratch = Files.createTempDirectory(folder, "scratch");
    final String[] arguments = {scratch.toString(), jar.toString(), mainClass, "--a", "b"};
    return JarMain.run(arguments, new PrintStream(out, true), new PrintStream(err, true));
  }

  private String printed() {
    return out.toString(StandardCharsets.UTF_8);
  }

  private String errors() {
    return err.toString(StandardCharsets.UTF_8);
  }

  @Test
  void describesAnInsertOfTheTableApiThroughAFunctionOfTheJar() throws IOException {
    program(
        STREAMING
            + TABLES
            + """
            session.from("orders").select($("id"), call(new Shout(), $("word"))).executeInsert("loud");
            """);
    assertThat(describe("")).as(this::errors).isEqualTo(JarMain.OK);
    assertThat(printed())
        .contains(
            "{\"name\":\"id\",\"edges\":[{\"source\":0,\"column\":\"id\",\"path\":[],"
                + "\"subtype\":\"IDENTITY\",\"masking\":false}],\"unknown\":[]}")
        .contains(
            "{\"name\":\"word\",\"edges\":[{\"source\":0,\"column\":\"word\",\"path\":[],"
                + "\"subtype\":\"TRANSFORMATION\",\"masking\":false}],\"unknown\":[]}");
  }

  @Test
  void describesStatementsAndSetsInBothModes() throws IOException {
    for (final String mode : new String[] {STREAMING, BATCH}) {
      for (final String job :
          new String[] {
            "session.executeSql(\"INSERT INTO loud SELECT id, UPPER(word) FROM orders\");",
            "session.createStatementSet().addInsert(\"loud\", session.from(\"orders\")).execute();",
          }) {
        out.reset();
        program(
            mode + TABLES + job + "throw new IllegalStateException(\"the job was submitted\");");
        assertThat(describe("example.Program")).as(this::errors).isEqualTo(JarMain.OK);
        assertThat(printed()).contains("\"column\":\"word\"");
      }
    }
  }

  @Test
  void saysWhyLineageIsNotKnown() throws IOException {
    program(
        "StreamExecutionEnvironment environment ="
            + " StreamExecutionEnvironment.getExecutionEnvironment();"
            + "environment.fromData(1, 2).print(); environment.execute();");
    assertThat(describe("")).as(this::errors).isEqualTo(JarMain.UNKNOWN_LINEAGE);
    assertThat(errors()).contains("not known: it is a job of the DataStream API");
    program(STREAMING + TABLES);
    assertThat(describe("")).as(this::errors).isEqualTo(JarMain.UNKNOWN_LINEAGE);
    assertThat(errors()).contains("not known: the program submitted no job");
    program(STREAMING + TABLES + "session.executeSql(\"SELECT id FROM orders\").collect();");
    assertThat(describe("")).as(this::errors).isEqualTo(JarMain.UNKNOWN_LINEAGE);
    assertThat(errors()).contains("the lineage of this kind of statement is not known");
  }

  @Test
  void reportsProgramsThatCannotRun() throws IOException {
    program("throw new IllegalArgumentException(\"no topic\");");
    assertThat(describe("")).isEqualTo(JarMain.PROGRAM_FAILED);
    assertThat(errors()).contains("IllegalArgumentException: no topic");
    assertThat(describe("example.Other")).isEqualTo(JarMain.PROGRAM_FAILED);
    assertThat(errors()).contains("Cannot run " + jar).contains("example.Other");
    Files.delete(jar);
    assertThat(describe("")).isEqualTo(JarMain.PROGRAM_FAILED);
    assertThat(JarMain.run(new String[] {"a"}, System.out, new PrintStream(err, true)))
        .isEqualTo(JarMain.USAGE_ERROR);
  }
}
