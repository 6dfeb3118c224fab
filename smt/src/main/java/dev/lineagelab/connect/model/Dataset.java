// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.Comparator;
import java.util.Objects;

/**
 * Dataset under its OpenLineage name.
 *
 * @param namespace such as {@code kafka://broker:9092}
 * @param name such as a topic
 */
public record Dataset(String namespace, String name) implements Comparable<Dataset> {
  private static final Comparator<Dataset> ORDER =
      Comparator.comparing(Dataset::namespace).thenComparing(Dataset::name);

  public Dataset {
    Objects.requireNonNull(namespace, "namespace");
    Objects.requireNonNull(name, "name");
  }

  @Override
  public int compareTo(final Dataset other) {
    return ORDER.compare(this, other);
  }
}
