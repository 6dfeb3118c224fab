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

/** Finds the lineage of any connector, with the resolvers that there are on the class path. */
public final class ConnectorLineageExtractor implements LineageExtractor {
  /** This plugin's own transform: it passes records on as they are, wherever it stands. */
  static final String OWN_TRANSFORM = "dev.lineagelab.connect.OpenLineageTransform";

  private final DatasetResolvers resolvers;

  /** With all resolvers beside this class: a plugin's class loader is not that of its threads. */
  public ConnectorLineageExtractor() {
    this(DatasetResolvers.of(ConnectorLineageExtractor.class.getClassLoader()));
  }

  ConnectorLineageExtractor(final DatasetResolvers resolvers) {
    this.resolvers = resolvers;
  }

  @Override
  public ConnectorLineage describe(
      final ConnectorDefinition view,
      final Collection<ObservedTopic> topics,
      final DatasetNamespaces names) {
    final List<ObservedTopic> seen =
        topics.stream().sorted(Comparator.comparing(ObservedTopic::topic)).toList();
    final Optional<DatasetResolver> resolver =
        Optional.ofNullable(view.connectorClass()).flatMap(resolvers::of);
    try {
      return describe(view, seen, names, resolver, new ConnectorLineageBuilder());
    } catch (final RuntimeException | LinkageError | StackOverflowError e) {
      final ConnectorLineageBuilder topicsAlone = new ConnectorLineageBuilder();
      resolver.ifPresent(
          failing -> topicsAlone.note(resolvers.failed(failing, view.connectorClass(), e)));
      return describe(view, seen, names, Optional.empty(), topicsAlone);
    }
  }

  private static ConnectorLineage describe(
      final ConnectorDefinition view,
      final List<ObservedTopic> seen,
      final DatasetNamespaces names,
      final Optional<DatasetResolver> known,
      final ConnectorLineageBuilder result) {
    final ConnectorContext connector = ConnectorContext.of(view, names);
    final List<String> notes = new ArrayList<>();
    final DeclaredDatasets declared = DeclaredDatasets.parse(declarations(connector), notes);
    result.notes(notes);
    if (!view.complete()) {
      TopicOnlyExtractor.describe(connector, seen, declared, result);
      return result.build();
    }
    final TransformChain chain = TransformChain.of(view.config(), List.of(OWN_TRANSFORM));
    final DatasetResolver resolver = known.orElseGet(() -> new NoResolver(declared));
    if (view.type() == ConnectorType.SOURCE) {
      new SourceLineageExtractor(connector, chain, resolver, declared, result).describe(seen);
    } else {
      new SinkLineageExtractor(connector, chain, resolver, declared, result).describe(seen);
    }
    return result.build();
  }

  /** Of the first transform of ours that has them. */
  private static String declarations(final ConnectorContext connector) {
    return connector.view().config().entrySet().stream()
        .filter(option -> ConnectorClassNames.isAnyOf(List.of(OWN_TRANSFORM), option.getValue()))
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

  /** For classes that no resolver knows. */
  private record NoResolver(DeclaredDatasets declared) implements DatasetResolver {
    @Override
    public boolean knows(final String connectorClass) {
      return true;
    }

    @Override
    public Resolution<SourceStream> streams(
        final ConnectorContext connector, final List<ObservedTopic> seen) {
      return unknown(connector, "reads");
    }

    @Override
    public Resolution<SinkTarget> targets(
        final ConnectorContext connector, final SymbolicRecord record) {
      return unknown(connector, "writes");
    }

    private <T> Resolution<T> unknown(final ConnectorContext connector, final String does) {
      return declared.isEmpty()
          ? Resolution.because(
              "What connectors of class "
                  + connector.view().connectorClass()
                  + " "
                  + does
                  + " besides topics is not known; the transform's option '"
                  + DeclaredDatasets.OPTION
                  + "' can tell.")
          : Resolution.none();
    }
  }
}
