// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import dev.lineagelab.connect.columns.TransformPredicate.Outcome;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Transforms of a connector in order. The chain can be split at a transform, and each part applied
 * to symbolic records.
 */
public final class TransformChain {
  /**
   * Maximum number of branches through the chain, which predicates cause. Beyond it, branches are
   * merged.
   */
  private static final int MAX_BRANCHES = 32;

  /** Alias of the place after the last transform; no transform can have this name. */
  public static final String END_OF_CHAIN = "";

  /** Alias of the place before the first transform; no transform can have this name. */
  public static final String START_OF_CHAIN = ",";

  private static final String PROBE_TOPIC = "topic";
  private static final String FILTER = "org.apache.kafka.connect.transforms.Filter";

  private final List<Step> steps;

  /**
   * Transform at its place in the chain.
   *
   * @param alias name in the configuration
   */
  private record Step(
      String alias, String className, SymbolicTransform transform, TransformPredicate predicate) {}

  private TransformChain(final List<Step> steps) {
    this.steps = List.copyOf(steps);
  }

  /**
   * Read the chain of a connector.
   *
   * @param config the connector's configuration
   * @param observers classes that pass all records unchanged: this plugin's own transform
   */
  public static TransformChain of(
      final Map<String, String> config, final Collection<String> observers) {
    final ConnectorOptions connector = new ConnectorOptions(config);
    final Map<String, TransformPredicate> predicates = new HashMap<>();
    final List<Step> steps = new ArrayList<>();
    final List<String> aliases = aliases(connector);
    for (final String alias : aliases) {
      final ConnectorOptions options = transformOptions(connector, alias);
      final TransformPredicate predicate = predicate(options, connector, predicates);
      final ConnectorOptions last = lastOptionsOfClass(options, connector, aliases);
      steps.add(step(alias, options, last, observers, predicate));
    }
    return new TransformChain(steps);
  }

  private static ConnectorOptions transformOptions(
      final ConnectorOptions connector, final String alias) {
    return connector.withPrefix("transforms." + alias + ".");
  }

  private static ConnectorOptions lastOptionsOfClass(
      final ConnectorOptions options,
      final ConnectorOptions connector,
      final List<String> aliases) {
    ConnectorOptions last = options;
    for (final String alias : aliases) {
      final ConnectorOptions other = transformOptions(connector, alias);
      if (options.hasSameValue("type", other)) {
        last = other;
      }
    }
    return last;
  }

  private static List<String> aliases(final ConnectorOptions connector) {
    try {
      return connector.list("transforms").stream().distinct().toList();
    } catch (final UnusableOptionException e) {
      // An unreadable list becomes one unknown transform, so that everything after it is unknown.
      return List.of("transforms");
    }
  }

  private static TransformPredicate predicate(
      final ConnectorOptions transform,
      final ConnectorOptions connector,
      final Map<String, TransformPredicate> predicates) {
    try {
      final Optional<String> name = transform.text("predicate");
      if (name.isEmpty()) {
        return TransformPredicate.ALWAYS;
      }
      final TransformPredicate predicate =
          predicates.computeIfAbsent(
              name.get(),
              key ->
                  TransformPredicate.parse(key, connector.withPrefix("predicates." + key + ".")));
      return transform.flag("negate", false) ? predicate.negated() : predicate;
    } catch (final UnusableOptionException e) {
      return TransformPredicate.parse("", new ConnectorOptions(Map.of()));
    }
  }

  private static Step step(
      final String alias,
      final ConnectorOptions options,
      final ConnectorOptions last,
      final Collection<String> observers,
      final TransformPredicate predicate) {
    String className = "of unknown class";
    try {
      className = SupportedTransforms.qualifiedName(options.required("type"), observers);
      final String name = className;
      final Optional<SymbolicTransform> known =
          observers.contains(name)
              ? Optional.of(record -> List.of(record))
              : SupportedTransforms.create(name, options, last);
      return new Step(
          alias,
          name,
          known.orElseGet(() -> unknownAfter(alias, name, "the class is not supported")),
          predicate);
    } catch (final UnusableOptionException e) {
      return new Step(alias, className, unknownAfter(alias, className, e.getMessage()), predicate);
    }
  }

  private static SymbolicTransform unknownAfter(
      final String alias, final String className, final String why) {
    return record -> List.of(record.asUnknown(unknownReason(alias, className, why)));
  }

  private static String unknownReason(
      final String alias, final String className, final String why) {
    return "Columns and topics after transform '"
        + alias
        + "' ("
        + className
        + ") are unknown: "
        + why
        + ".";
  }

  /** Return the alias of the first transform of a class. */
  public Optional<String> aliasOf(final String className) {
    return steps.stream()
        .filter(step -> step.className.equals(className))
        .map(Step::alias)
        .findFirst();
  }

  /**
   * Return the alias of the transform that observes records as they are in the topic: of several of
   * its class the first of a sink, the last of a source, if possible one without a predicate.
   */
  public Optional<String> observerOf(final String className, final boolean isSink) {
    final List<Step> own = steps.stream().filter(s -> s.className.equals(className)).toList();
    final List<Step> unconditional =
        own.stream().filter(step -> step.predicate == TransformPredicate.ALWAYS).toList();
    final List<Step> candidates = unconditional.isEmpty() ? own : unconditional;
    return candidates.isEmpty()
        ? Optional.empty()
        : Optional.of(candidates.get(isSink ? 0 : candidates.size() - 1).alias);
  }

  /**
   * Return true if the chain may change topics, so that the topic after it does not identify the
   * one before.
   */
  public boolean mayChangeTopic() {
    return apply(SymbolicRecord.initial(PROBE_TOPIC)).stream()
            .anyMatch(branch -> !branch.topic().equals(new TopicName.Known(PROBE_TOPIC)))
        || steps.stream().anyMatch(step -> step.className.endsWith("Router"));
  }

  /** Return true if the chain contains a transform of a class. */
  public boolean has(final String className) {
    return aliasOf(className).isPresent();
  }

  /** Return the part before a transform; the entire chain if it is not in it. */
  public TransformChain before(final String alias) {
    if (START_OF_CHAIN.equals(alias)) {
      return new TransformChain(List.of());
    }
    final int index = steps.stream().map(Step::alias).toList().indexOf(alias);
    return new TransformChain(steps.subList(0, index < 0 ? steps.size() : index));
  }

  /** Return the part after a transform; an empty chain if it is not in it. */
  public TransformChain after(final String alias) {
    if (START_OF_CHAIN.equals(alias)) {
      return this;
    }
    final int index = steps.stream().map(Step::alias).toList().indexOf(alias);
    return new TransformChain(steps.subList(index < 0 ? steps.size() : index + 1, steps.size()));
  }

  /**
   * Apply the transforms to a record.
   *
   * @return possible results; empty if no record passes
   */
  public List<SymbolicRecord> apply(final SymbolicRecord record) {
    List<SymbolicRecord> branches = List.of(record);
    for (final Step step : steps) {
      final List<SymbolicRecord> next = new ArrayList<>();
      branches.forEach(branch -> next.addAll(apply(step, branch)));
      branches = limitBranches(next.stream().distinct().toList());
    }
    return branches;
  }

  private static List<SymbolicRecord> apply(final Step step, final SymbolicRecord record) {
    try {
      final Outcome outcome = step.predicate.evaluate().apply(record);
      final List<SymbolicRecord> result = new ArrayList<>();
      outcome.satisfied().forEach(satisfied -> result.addAll(step.transform.apply(satisfied)));
      final boolean isFilter =
          step.className.equals(FILTER)
              && !outcome.isDecided()
              && step.predicate.dependsOn().isPresent();
      outcome
          .unsatisfied()
          .forEach(
              unsatisfied ->
                  result.add(
                      isFilter
                          ? unsatisfied.withFilter(step.predicate.dependsOn().get())
                          : unsatisfied));
      return result;
    } catch (final UnusableOptionException e) {
      return List.of(record.asUnknown(unknownReason(step.alias, step.className, e.getMessage())));
    }
  }

  /**
   * Merge branches per topic if there are too many; if that does not suffice, everything is
   * unknown.
   */
  private static List<SymbolicRecord> limitBranches(final List<SymbolicRecord> branches) {
    if (branches.size() <= MAX_BRANCHES) {
      return branches;
    }
    final List<SymbolicRecord> merged = byTopic(branches, SymbolicRecord::merged);
    return merged.size() <= MAX_BRANCHES
        ? merged
        : List.of(merged.get(0).asUnknown("The transform chain has too many branches."));
  }

  /** Merge branches into one record per topic. */
  public static List<SymbolicRecord> byTopic(final List<SymbolicRecord> branches) {
    return byTopic(branches, SymbolicRecord::anyOf);
  }

  private static List<SymbolicRecord> byTopic(
      final List<SymbolicRecord> branches,
      final Function<List<SymbolicRecord>, SymbolicRecord> union) {
    final Map<TopicName, List<SymbolicRecord>> groups = new LinkedHashMap<>();
    branches.forEach(
        branch -> groups.computeIfAbsent(branch.topic(), topic -> new ArrayList<>()).add(branch));
    return groups.values().stream().map(union).toList();
  }
}
