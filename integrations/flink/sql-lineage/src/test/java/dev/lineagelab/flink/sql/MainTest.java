// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.flink.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MainTest {
  private static final String SCRIPT =
      """
      CREATE TABLE o (item STRING, price STRING) WITH ('connector' = 'datagen');
      CREATE TABLE s (n BIGINT) WITH ('connector' = 'blackhole');
      INSERT INTO s SELECT COUNT(price) FROM o WHERE item <> 'größer';
      """;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private int run(final String input, final String... arguments) {
    return Main.run(
        arguments,
        new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
        new PrintStream(out, true, StandardCharsets.UTF_8),
        new PrintStream(err, true, StandardCharsets.UTF_8));
  }

  @Test
  void printsOneDocument() throws IOException {
    assertThat(run(SCRIPT)).isEqualTo(Main.OK);
    final JsonNode document = new ObjectMapper().readTree(out.toByteArray());
    assertThat(document.get("version").asInt()).isEqualTo(1);
    assertThat(document.at("/statements/2/text").asText()).contains("größer");
    assertThat(document.at("/statements/2/line").asInt()).isEqualTo(3);
    final JsonNode write = document.at("/jobs/0/writes/0");
    assertThat(write.at("/columns/0"))
        .isEqualTo(
            new ObjectMapper()
                .readTree(
                    """
                    {"name": "n", "unknown": [], "edges": [
                      {"source": 0, "column": "price", "path": [], "subtype": "AGGREGATION", "masking": true}]}
                    """));
    assertThat(write.at("/rows/edges/0/subtype").asText()).isEqualTo("FILTER");
    assertThat(write.at("/sources/0/fields/1"))
        .isEqualTo(
            new ObjectMapper()
                .readTree(
                    """
                    {"name": "price", "type": "STRING", "kind": "PHYSICAL", "metadataKey": null}
                    """));
    assertThat(err.toString(StandardCharsets.UTF_8)).isEmpty();
  }

  @Test
  void readsFilesAndStandardInput(@TempDir final Path folder) throws IOException {
    final Path file = Files.writeString(folder.resolve("s.sql"), SCRIPT);
    assertThat(run("", file.toString())).isEqualTo(Main.OK);
    final String document = out.toString(StandardCharsets.UTF_8);
    out.reset();
    assertThat(run(SCRIPT, "-")).isEqualTo(Main.OK);
    assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo(document);
  }

  @Test
  void reportsErrorsOnStderrOnly(@TempDir final Path folder) {
    assertThat(run("SELECT nope FROM nowhere")).isEqualTo(Main.INVALID_STATEMENT);
    assertThat(err.toString(StandardCharsets.UTF_8)).startsWith("line 1, column 18: ");
    assertThat(run("CREATE CATALOG c WITH ('type' = 'nope')")).isEqualTo(Main.CATALOG_UNAVAILABLE);
    assertThat(run("", "one", "two")).isEqualTo(Main.USAGE_ERROR);
    assertThat(run("", folder.resolve("absent.sql").toString())).isEqualTo(Main.UNREADABLE_SCRIPT);
    assertThat(out.size()).isZero();
  }
}
