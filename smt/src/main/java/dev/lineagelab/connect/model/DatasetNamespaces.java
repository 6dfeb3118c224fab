// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * Canonical namespaces of datasets.
 *
 * @param kafka canonical namespace of the worker's own Kafka cluster
 * @param canonical maps a namespace as configured to the canonical one; an unmapped namespace is
 *     returned unchanged
 */
public record DatasetNamespaces(String kafka, UnaryOperator<String> canonical) {
  public DatasetNamespaces {
    Objects.requireNonNull(kafka, "kafka");
    Objects.requireNonNull(canonical, "canonical");
  }
}
