// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.columns.Options;
import dev.lineagelab.connect.columns.RecordState;
import dev.lineagelab.connect.columns.TransformChain;
import dev.lineagelab.connect.columns.UnusableOptionException;
import dev.lineagelab.connect.model.ClusterNames;
import dev.lineagelab.connect.model.ConnectorType;
import dev.lineagelab.connect.model.ConnectorView;
import dev.lineagelab.connect.model.Describer;
import dev.lineagelab.connect.model.Description;
import dev.lineagelab.connect.model.ObservedTopic;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Finds the lineage of any connector, with the resolvers that there are on the class path. */
public final class ConnectorDescriber implements Describer {
  /** This plugin's own transform: it passes records on as they are, wherever it stands. */
  static final String OWN_TRANSFORM = "dev.lineagelab.connect.OpenLineageTransform";

  private final Resolvers resolvers;

  /** With all resolvers beside this class: a plugin's class loader is not that of its threads. */
  public ConnectorDescriber() {
    this(Resolvers.of(ConnectorDescriber.class.getClassLoader()));
  }

  ConnectorDescriber(final Resolvers resolvers) {
    this.resolvers = resolvers;
  }

  @Override
  public Description describe(
      final ConnectorView view, final Collection<ObservedTopic> topics, final ClusterNames names) {
    final List<ObservedTopic> seen =
        topics.stream().sorted(Comparator.comparing(ObservedTopic::topic)).toList();
    final Optional<DatasetResolver> resolver =
        Optional.ofNullable(view.connectorClass()).flatMap(resolvers::of);
    try {
      return describe(view, seen, names, resolver, new DescriptionBuilder());
    } catch (final RuntimeException | LinkageError | StackOverflowError e) {
      final DescriptionBuilder topicsAlone = new DescriptionBuilder();
      resolver.ifPresent(
          failing -> topicsAlone.note(resolvers.failed(failing, view.connectorClass(), e)));
      return describe(view, seen, names, Optional.empty(), topicsAlone);
    }
  }

  private static Description describe(
      final ConnectorView view,
      final List<ObservedTopic> seen,
      final ClusterNames names,
      final Optional<DatasetResolver> known,
      final DescriptionBuilder result) {
    final Connector connector = Connector.of(view, names);
    final List<String> notes = new ArrayList<>();
    final Declarations declared = Declarations.parse(declarations(connector), notes);
    result.notes(notes);
    if (!view.complete()) {
      TopicsOnly.describe(connector, seen, declared, result);
      return result.build();
    }
    final TransformChain chain = TransformChain.of(view.config(), List.of(OWN_TRANSFORM));
    final DatasetResolver resolver = known.orElseGet(() -> new NoResolver(declared));
    if (view.type() == ConnectorType.SOURCE) {
      new SourceDescriber(connector, chain, resolver, declared, result).describe(seen);
    } else {
      new SinkDescriber(connector, chain, resolver, declared, result).describe(seen);
    }
    return result.build();
  }

  /** Of the first transform of ours that has them. */
  private static String declarations(final Connector connector) {
    return connector.view().config().entrySet().stream()
        .filter(option -> ClassNames.isAnyOf(List.of(OWN_TRANSFORM), option.getValue()))
        .map(Map.Entry::getKey)
        .filter(name -> name.startsWith("transforms.") && name.endsWith(".type"))
        .sorted()
        .map(name -> name.substring(0, name.length() - "type".length()) + Declarations.OPTION)
        .flatMap(name -> text(connector.options(), name).stream())
        .findFirst()
        .orElse(null);
  }

  private static Optional<String> text(final Options options, final String name) {
    try {
      return options.text(name);
    } catch (final UnusableOptionException e) {
      return Optional.empty();
    }
  }

  /** For classes that no resolver knows. */
  private record NoResolver(Declarations declared) implements DatasetResolver {
    @Override
    public boolean knows(final String connectorClass) {
      return true;
    }

    @Override
    public Resolved<SourceStream> streams(
        final Connector connector, final List<ObservedTopic> seen) {
      return unknown(connector, "reads");
    }

    @Override
    public Resolved<SinkTarget> targets(final Connector connector, final RecordState record) {
      return unknown(connector, "writes");
    }

    private <T> Resolved<T> unknown(final Connector connector, final String does) {
      return declared.isEmpty()
          ? Resolved.because(
              "What connectors of class "
                  + connector.view().connectorClass()
                  + " "
                  + does
                  + " besides topics is not known; the transform's option '"
                  + Declarations.OPTION
                  + "' can tell.")
          : Resolved.none();
    }
  }
}
