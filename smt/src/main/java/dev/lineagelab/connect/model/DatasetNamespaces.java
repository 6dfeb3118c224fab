// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.Objects;
import java.util.function.UnaryOperator;

/**
 * How namespaces are called.
 *
 * @param kafka namespace of the worker's own Kafka cluster, canonical already
 * @param canonical a namespace as it follows from a configuration to the one that all use; a
 *     namespace that it does not know it returns as it is
 */
public record DatasetNamespaces(String kafka, UnaryOperator<String> canonical) {
  public DatasetNamespaces {
    Objects.requireNonNull(kafka, "kafka");
    Objects.requireNonNull(canonical, "canonical");
  }
}
