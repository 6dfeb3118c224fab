// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Golden-file test: configurations of each connector family with their expected lineage. */
class ConnectorLineageExtractorTest {
  private static final List<String> FILES =
      List.of(
          "debezium",
          "debezium-sinks",
          "iceberg",
          "archive",
          "file",
          "mirror",
          "vendors",
          "warehouses",
          "unknown");
  private static final ObjectMapper JSON = new ObjectMapper();

  @TestFactory
  Stream<DynamicTest> extractsLineage() throws IOException {
    final List<DynamicTest> tests = new ArrayList<>();
    for (final String file : FILES) {
      for (final ConnectorExample example : examples(file)) {
        tests.add(DynamicTest.dynamicTest(file + ": " + example.title(), () -> check(example)));
      }
    }
    return tests.stream();
  }

  private static List<ConnectorExample> examples(final String file) throws IOException {
    final List<ConnectorExample> examples = new ArrayList<>();
    try (InputStream content =
        ConnectorLineageExtractorTest.class.getResourceAsStream(file + ".json")) {
      JSON.readTree(content).forEach(node -> examples.add(ConnectorExample.of(node)));
    }
    return examples;
  }

  private static void check(final ConnectorExample example) throws JsonProcessingException {
    final JsonNode found = ConnectorExample.json(example.extract());
    assertThat(pretty(found)).isEqualTo(pretty(example.expected()));
  }

  private static String pretty(final JsonNode node) throws JsonProcessingException {
    return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(node);
  }
}
