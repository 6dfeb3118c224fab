// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import static org.assertj.core.api.Assertions.assertThat;

import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.columns.UnusableOptionException;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.Dataset;
import dev.lineagelab.connect.model.ObservedTopic;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.kafka.connect.data.Schema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Third-party resolvers, and the lineage of connectors whose resolver fails. */
class DatasetResolversTest {
  private static final String SECRET = "hunter2";
  private static final Dataset TOPIC = new Dataset(ConnectorExample.NAMESPACES.kafka(), "orders");

  /** Resolver for {@code com.example.Odd} with configurable results. */
  private record Odd(Supplier<Boolean> isKnown, Supplier<RuntimeException> failure)
      implements DatasetResolver {
    @Override
    public boolean supports(final String connectorClass) {
      return isKnown.get() && "com.example.Odd".equals(connectorClass);
    }

    @Override
    public Resolution<SourceStream> sourceStreams(
        final ConnectorContext connector, final List<ObservedTopic> seen) {
      throw failure.get();
    }

    @Override
    public Resolution<SinkTarget> sinkTargets(
        final ConnectorContext connector, final String originalTopic, final SymbolicRecord record) {
      throw failure.get();
    }
  }

  private static ConnectorLineage extract(
      final DatasetResolver resolver, final ConnectorType type) {
    final Map<String, String> config =
        Map.of("connector.class", "com.example.Odd", "topics", "orders");
    return new ConnectorLineageExtractor(new DatasetResolvers(List.of(resolver)))
        .extract(
            new ConnectorDefinition("c", type, "com.example.Odd", config, true),
            List.of(new ObservedTopic("orders", null, Schema.STRING_SCHEMA, null)),
            ConnectorExample.NAMESPACES);
  }

  @Test
  void keepsTheTopicsOfAFailingResolver() {
    final Odd throwing = new Odd(() -> true, () -> new IllegalStateException(SECRET));
    final ConnectorLineage sink = extract(throwing, ConnectorType.SINK);
    assertThat(sink.inputs()).containsExactly(TOPIC);
    assertThat(sink.outputs()).isEmpty();
    final ConnectorLineage source = extract(throwing, ConnectorType.SOURCE);
    assertThat(source.inputs()).isEmpty();
    assertThat(source.outputs()).containsExactly(TOPIC);
    assertThat(sink.notes())
        .anySatisfy(
            note ->
                assertThat(note)
                    .contains(Odd.class.getName(), "com.example.Odd", "IllegalStateException"))
        .noneSatisfy(note -> assertThat(note).contains(SECRET));
  }

  @Test
  void notesUnusableOptions() {
    final Odd careful = new Odd(() -> true, () -> new UnusableOptionException("'url' is missing"));
    assertThat(extract(careful, ConnectorType.SINK).notes())
        .containsExactly("The datasets that the connector writes are unknown: 'url' is missing.");
  }

  @Test
  void skipsResolversThatFailToAnswer() {
    final Odd broken =
        new Odd(
            () -> {
              throw new NoClassDefFoundError("com/example/Missing");
            },
            IllegalStateException::new);
    assertThat(extract(broken, ConnectorType.SINK).inputs()).containsExactly(TOPIC);
  }

  @Test
  void skipsInvalidServiceEntries(@TempDir final Path folder) throws IOException {
    final Path services = folder.resolve("META-INF/services/" + DatasetResolver.class.getName());
    Files.createDirectories(services.getParent());
    Files.writeString(services, "com.example.Missing\njava.lang.String\n");
    final URL[] urls = {folder.toUri().toURL()};
    try (URLClassLoader loader =
        new URLClassLoader(urls, DatasetResolversTest.class.getClassLoader())) {
      assertThat(
              DatasetResolvers.load(loader)
                  .find("org.apache.kafka.connect.file.FileStreamSinkConnector"))
          .get()
          .isInstanceOf(FileStreamResolver.class);
    }
  }
}
