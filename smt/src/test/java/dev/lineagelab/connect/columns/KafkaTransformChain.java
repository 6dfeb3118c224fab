// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.columns;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** Real transforms of a configuration, applied as by a Connect worker. */
final class KafkaTransformChain {
  private final List<Step> steps = new ArrayList<>();

  private record Step(
      Transformation<SinkRecord> transformation, Predicate<SinkRecord> predicate, boolean negate) {}

  KafkaTransformChain(final Map<String, String> config) {
    for (final String alias : config.getOrDefault("transforms", "").split(",")) {
      if (!alias.isEmpty()) {
        steps.add(step(config, alias));
      }
    }
  }

  private static Step step(final Map<String, String> config, final String alias) {
    final Map<String, String> options = below(config, "transforms." + alias + ".");
    final Transformation<SinkRecord> transformation = instance(options.get("type"));
    final String predicate = options.remove("predicate");
    final boolean negate = Boolean.parseBoolean(options.remove("negate"));
    transformation.configure(options);
    if (predicate == null) {
      return new Step(transformation, null, false);
    }
    final Map<String, String> conditions = below(config, "predicates." + predicate + ".");
    final Predicate<SinkRecord> condition = instance(conditions.get("type"));
    condition.configure(conditions);
    return new Step(transformation, condition, negate);
  }

  private static Map<String, String> below(final Map<String, String> config, final String prefix) {
    final Map<String, String> found = new HashMap<>();
    config.forEach(
        (name, value) -> {
          if (name.startsWith(prefix)) {
            found.put(name.substring(prefix.length()), value);
          }
        });
    return found;
  }

  @SuppressWarnings("unchecked")
  private static <T> T instance(final String className) {
    try {
      return (T) Class.forName(className).getDeclaredConstructor().newInstance();
    } catch (final ReflectiveOperationException e) {
      throw new IllegalArgumentException(className, e);
    }
  }

  /** Return the resulting record; empty if it is dropped or a transform fails. */
  Optional<SinkRecord> apply(final SinkRecord record) {
    SinkRecord current = record;
    for (final Step step : steps) {
      try {
        if (step.predicate == null || step.negate != step.predicate.test(current)) {
          current = step.transformation.apply(current);
        }
      } catch (final ConnectException
          | IllegalArgumentException
          | NullPointerException
          | ClassCastException e) {
        return Optional.empty();
      }
      if (current == null) {
        return Optional.empty();
      }
    }
    return Optional.of(current);
  }
}
