// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.ConnectorOptions;
import dev.lineagelab.connect.columns.SymbolicRecord;
import dev.lineagelab.connect.columns.TransformChain;
import dev.lineagelab.connect.columns.UnusableOptionException;
import dev.lineagelab.connect.model.ConnectorDefinition;
import dev.lineagelab.connect.model.ConnectorLineage;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.DatasetNamespaces;
import dev.lineagelab.connect.model.LineageExtractor;
import dev.lineagelab.connect.model.ObservedTopic;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Extracts the lineage of any connector, with the dataset resolvers on the class path. */
public final class ConnectorLineageExtractor implements LineageExtractor {
  /** This plugin's own transform, which passes records unchanged at any place of a chain. */
  static final String OWN_TRANSFORM = "dev.lineagelab.connect.OpenLineageTransform";

  private final DatasetResolvers resolvers;

  /**
   * Load all resolvers from the plugin's own class loader; the context class loader of its threads
   * is another.
   */
  public ConnectorLineageExtractor() {
    this(DatasetResolvers.load(ConnectorLineageExtractor.class.getClassLoader()));
  }

  ConnectorLineageExtractor(final DatasetResolvers resolvers) {
    this.resolvers = resolvers;
  }

  @Override
  public ConnectorLineage extract(
      final ConnectorDefinition definition,
      final Collection<ObservedTopic> topics,
      final DatasetNamespaces namespaces) {
    final List<ObservedTopic> seen =
        topics.stream().sorted(Comparator.comparing(ObservedTopic::topic)).toList();
    final Optional<DatasetResolver> resolver =
        Optional.ofNullable(definition.connectorClass()).flatMap(resolvers::find);
    try {
      return extract(definition, seen, namespaces, resolver, new ConnectorLineageBuilder());
    } catch (final RuntimeException | LinkageError | StackOverflowError e) {
      final ConnectorLineageBuilder topicsOnly = new ConnectorLineageBuilder();
      resolver.ifPresent(
          failing ->
              topicsOnly.addNote(resolvers.reportFailure(failing, definition.connectorClass(), e)));
      return extract(definition, seen, namespaces, Optional.empty(), topicsOnly);
    }
  }

  private static ConnectorLineage extract(
      final ConnectorDefinition definition,
      final List<ObservedTopic> seen,
      final DatasetNamespaces namespaces,
      final Optional<DatasetResolver> known,
      final ConnectorLineageBuilder result) {
    final ConnectorContext connector = ConnectorContext.of(definition, namespaces);
    final List<String> notes = new ArrayList<>();
    final DeclaredDatasets declared = DeclaredDatasets.parse(declarations(connector), notes);
    result.addNotes(notes);
    if (!definition.complete()) {
      TopicOnlyExtractor.extract(connector, seen, declared, result);
      return result.build();
    }
    final TransformChain chain = connector.chain();
    final DatasetResolver resolver = known.orElseGet(() -> new UnsupportedClassResolver(declared));
    if (definition.type() == ConnectorType.SOURCE) {
      new SourceLineageExtractor(connector, chain, resolver, declared, result).extract(seen);
    } else {
      new SinkLineageExtractor(connector, chain, resolver, declared, result).extract(seen);
    }
    return result.build();
  }

  /** Return the declarations of the first of this plugin's transforms that has some. */
  private static String declarations(final ConnectorContext connector) {
    return connector.definition().config().entrySet().stream()
        .filter(option -> ConnectorClassNames.matchesAny(List.of(OWN_TRANSFORM), option.getValue()))
        .map(Map.Entry::getKey)
        .filter(name -> name.startsWith("transforms.") && name.endsWith(".type"))
        .sorted()
        .map(name -> name.substring(0, name.length() - "type".length()) + DeclaredDatasets.OPTION)
        .flatMap(name -> text(connector.options(), name).stream())
        .findFirst()
        .orElse(null);
  }

  private static Optional<String> text(final ConnectorOptions options, final String name) {
    try {
      return options.text(name);
    } catch (final UnusableOptionException e) {
      return Optional.empty();
    }
  }

  /** Resolver for connector classes that no other resolver supports. */
  private record UnsupportedClassResolver(DeclaredDatasets declared) implements DatasetResolver {
    @Override
    public boolean supports(final String connectorClass) {
      return true;
    }

    @Override
    public Resolution<SourceStream> sourceStreams(
        final ConnectorContext connector, final List<ObservedTopic> seen) {
      return unknown(connector, "read");
    }

    @Override
    public Resolution<SinkTarget> sinkTargets(
        final ConnectorContext connector, final String originalTopic, final SymbolicRecord record) {
      return unknown(connector, "write");
    }

    private <T> Resolution<T> unknown(final ConnectorContext connector, final String verb) {
      return declared.isEmpty()
          ? Resolution.unknown(
              "The datasets that connectors of class "
                  + connector.definition().connectorClass()
                  + " "
                  + verb
                  + " are unknown; the transform's option '"
                  + DeclaredDatasets.OPTION
                  + "' can declare them.")
          : Resolution.empty();
    }
  }
}
