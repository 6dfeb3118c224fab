// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

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

/**
 * DatasetResolvers that anybody may add, and what becomes of connectors where one of them throws.
 */
class DatasetResolversTest {
  private static final String SECRET = "hunter2";
  private static final Dataset TOPIC = new Dataset(ConnectorExample.NAMES.kafka(), "orders");

  /** Answers as the test says, for the class {@code com.example.Odd}. */
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
        final ConnectorContext connector, final SymbolicRecord record) {
      throw failure.get();
    }
  }

  private static ConnectorLineage describe(
      final DatasetResolver resolver, final ConnectorType type) {
    final Map<String, String> config =
        Map.of("connector.class", "com.example.Odd", "topics", "orders");
    return new ConnectorLineageExtractor(new DatasetResolvers(List.of(resolver)))
        .describe(
            new ConnectorDefinition("c", type, "com.example.Odd", config, true),
            List.of(new ObservedTopic("orders", null, Schema.STRING_SCHEMA, null)),
            ConnectorExample.NAMES);
  }

  @Test
  void whatAResolverThrowsLeavesTheTopics() {
    final Odd throwing = new Odd(() -> true, () -> new IllegalStateException(SECRET));
    final ConnectorLineage sink = describe(throwing, ConnectorType.SINK);
    assertThat(sink.inputs()).containsExactly(TOPIC);
    assertThat(sink.outputs()).isEmpty();
    final ConnectorLineage source = describe(throwing, ConnectorType.SOURCE);
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
  void anOptionThatCannotBeUsedIsNoFailureOfTheResolver() {
    final Odd careful = new Odd(() -> true, () -> new UnusableOptionException("'url' is missing"));
    assertThat(describe(careful, ConnectorType.SINK).notes())
        .containsExactly("Where the connector writes is not known: 'url' is missing.");
  }

  @Test
  void aResolverThatCannotEvenSayWhatItKnowsIsPassedOver() {
    final Odd broken =
        new Odd(
            () -> {
              throw new NoClassDefFoundError("com/example/Missing");
            },
            IllegalStateException::new);
    assertThat(describe(broken, ConnectorType.SINK).inputs()).containsExactly(TOPIC);
  }

  @Test
  void whatIsNoResolverDoesNotHideTheOthers(@TempDir final Path folder) throws IOException {
    final Path services = folder.resolve("META-INF/services/" + DatasetResolver.class.getName());
    Files.createDirectories(services.getParent());
    Files.writeString(services, "com.example.Missing\njava.lang.String\n");
    final URL[] urls = {folder.toUri().toURL()};
    try (URLClassLoader loader =
        new URLClassLoader(urls, DatasetResolversTest.class.getClassLoader())) {
      assertThatCode(() -> DatasetResolvers.load(loader)).doesNotThrowAnyException();
      assertThat(
              DatasetResolvers.load(loader)
                  .find("org.apache.kafka.connect.file.FileStreamSinkConnector"))
          .get()
          .isInstanceOf(FileStreamResolver.class);
    }
  }
}
