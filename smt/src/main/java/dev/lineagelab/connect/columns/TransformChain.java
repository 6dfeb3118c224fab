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
 * The transforms of a connector in their order. It can be cut at the place of one of them, and each
 * part be applied to what is known of a record.
 */
public final class TransformChain {
  /** Of ways through the chain, which predicates make: beyond it they are taken together. */
  private static final int MAX_WAYS = 32;

  /** A place behind all transforms: no transform can be called so. */
  public static final String END = "";

  private static final String PROBE = "topic";
  private static final String FILTER = "org.apache.kafka.connect.transforms.Filter";

  private final List<Step> steps;

  /**
   * A transform at its place.
   *
   * @param alias its name in the configuration
   */
  private record Step(
      String alias, String className, SymbolicTransform transform, TransformPredicate condition) {}

  private TransformChain(final List<Step> steps) {
    this.steps = List.copyOf(steps);
  }

  /**
   * Reads the chain.
   *
   * @param config a connector's configuration
   * @param observers classes that pass all records on as they are: this plugin's own
   */
  public static TransformChain of(
      final Map<String, String> config, final Collection<String> observers) {
    final ConnectorOptions connector = new ConnectorOptions(config);
    final Map<String, TransformPredicate> conditions = new HashMap<>();
    final List<Step> steps = new ArrayList<>();
    final List<String> aliases = aliases(connector);
    for (final String alias : aliases) {
      final ConnectorOptions options = below(connector, alias);
      final TransformPredicate condition = condition(options, connector, conditions);
      final ConnectorOptions last = lastOfItsClass(options, connector, aliases);
      steps.add(step(alias, options, last, observers, condition));
    }
    return new TransformChain(steps);
  }

  private static ConnectorOptions below(final ConnectorOptions connector, final String alias) {
    return connector.below("transforms." + alias + ".");
  }

  private static ConnectorOptions lastOfItsClass(
      final ConnectorOptions options,
      final ConnectorOptions connector,
      final List<String> aliases) {
    ConnectorOptions last = options;
    for (final String alias : aliases) {
      final ConnectorOptions other = below(connector, alias);
      if (options.isSame("type", other)) {
        last = other;
      }
    }
    return last;
  }

  private static List<String> aliases(final ConnectorOptions connector) {
    try {
      return connector.list("transforms").stream().distinct().toList();
    } catch (final UnusableOptionException e) {
      // Of a chain that is not known everything behind it is unknown.
      return List.of("transforms");
    }
  }

  private static TransformPredicate condition(
      final ConnectorOptions transform,
      final ConnectorOptions connector,
      final Map<String, TransformPredicate> conditions) {
    try {
      final Optional<String> name = transform.text("predicate");
      if (name.isEmpty()) {
        return TransformPredicate.ALWAYS;
      }
      final TransformPredicate condition =
          conditions.computeIfAbsent(
              name.get(),
              key -> TransformPredicate.of(key, connector.below("predicates." + key + ".")));
      return transform.flag("negate", false) ? condition.negated() : condition;
    } catch (final UnusableOptionException e) {
      return TransformPredicate.of("", new ConnectorOptions(Map.of()));
    }
  }

  private static Step step(
      final String alias,
      final ConnectorOptions options,
      final ConnectorOptions last,
      final Collection<String> observers,
      final TransformPredicate condition) {
    String className = "of unknown class";
    try {
      className = SupportedTransforms.fullName(options.required("type"), observers);
      final String name = className;
      final Optional<SymbolicTransform> known =
          observers.contains(name)
              ? Optional.of(record -> List.of(record))
              : SupportedTransforms.of(name, options, last);
      return new Step(
          alias,
          name,
          known.orElseGet(() -> losing(alias, name, "what it does is not known")),
          condition);
    } catch (final UnusableOptionException e) {
      return new Step(alias, className, losing(alias, className, e.getMessage()), condition);
    }
  }

  private static SymbolicTransform losing(
      final String alias, final String className, final String why) {
    return record -> List.of(record.lost(lossBy(alias, className, why)));
  }

  private static String lossBy(final String alias, final String className, final String why) {
    return "Columns and topics behind transform '"
        + alias
        + "' ("
        + className
        + ") are unknown: "
        + why
        + ".";
  }

  /** The name of the first transform of a class. */
  public Optional<String> aliasOf(final String className) {
    return steps.stream()
        .filter(step -> step.className.equals(className))
        .map(Step::alias)
        .findFirst();
  }

  /** Whether topics may change in it: then one at its end does not tell which one it was. */
  public boolean mayRoute() {
    return apply(SymbolicRecord.startingAs(PROBE)).stream()
            .anyMatch(way -> !way.topic().equals(new TopicName.Known(PROBE)))
        || steps.stream().anyMatch(step -> step.className.endsWith("Router"));
  }

  /** Whether a transform of a class is in it. */
  public boolean has(final String className) {
    return aliasOf(className).isPresent();
  }

  /** Those before one; all if it is not in the chain. */
  public TransformChain before(final String alias) {
    final int place = steps.stream().map(Step::alias).toList().indexOf(alias);
    return new TransformChain(steps.subList(0, place < 0 ? steps.size() : place));
  }

  /** Those after one; none if it is not in the chain. */
  public TransformChain after(final String alias) {
    final int place = steps.stream().map(Step::alias).toList().indexOf(alias);
    return new TransformChain(steps.subList(place < 0 ? steps.size() : place + 1, steps.size()));
  }

  /**
   * Applies the transforms to a record.
   *
   * @return what may come out; empty if nothing can
   */
  public List<SymbolicRecord> apply(final SymbolicRecord record) {
    List<SymbolicRecord> ways = List.of(record);
    for (final Step step : steps) {
      final List<SymbolicRecord> next = new ArrayList<>();
      ways.forEach(way -> next.addAll(apply(step, way)));
      ways = limited(next.stream().distinct().toList());
    }
    return ways;
  }

  private static List<SymbolicRecord> apply(final Step step, final SymbolicRecord record) {
    try {
      final Outcome outcome = step.condition.test().apply(record);
      final List<SymbolicRecord> result = new ArrayList<>();
      outcome.met().forEach(met -> result.addAll(step.transform.apply(met)));
      final boolean isFilter =
          step.className.equals(FILTER)
              && !outcome.isDecided()
              && step.condition.dependsOn().isPresent();
      outcome
          .unmet()
          .forEach(
              unmet ->
                  result.add(
                      isFilter ? unmet.filteredOn(step.condition.dependsOn().get()) : unmet));
      return result;
    } catch (final UnusableOptionException e) {
      return List.of(record.lost(lossBy(step.alias, step.className, e.getMessage())));
    }
  }

  /** Too many ways become one for each topic; where that does not help, nothing is known. */
  private static List<SymbolicRecord> limited(final List<SymbolicRecord> ways) {
    if (ways.size() <= MAX_WAYS) {
      return ways;
    }
    final List<SymbolicRecord> merged = byTopic(ways, SymbolicRecord::merged);
    return merged.size() <= MAX_WAYS
        ? merged
        : List.of(merged.get(0).lost("Records take too many ways through the transforms."));
  }

  /** One record for each topic to which it may go. */
  public static List<SymbolicRecord> byTopic(final List<SymbolicRecord> ways) {
    return byTopic(ways, SymbolicRecord::anyOf);
  }

  private static List<SymbolicRecord> byTopic(
      final List<SymbolicRecord> ways, final Function<List<SymbolicRecord>, SymbolicRecord> union) {
    final Map<TopicName, List<SymbolicRecord>> groups = new LinkedHashMap<>();
    ways.forEach(way -> groups.computeIfAbsent(way.topic(), topic -> new ArrayList<>()).add(way));
    return groups.values().stream().map(union).toList();
  }
}
