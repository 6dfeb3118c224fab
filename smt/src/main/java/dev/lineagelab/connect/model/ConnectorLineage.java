// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.model;

import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Lineage of a connector. Sorted, so that equal lineage is an equal value.
 *
 * @param pairs data flow from inputs to outputs
 * @param schemas of datasets whose columns are known
 * @param symlinks other names of datasets
 * @param notes what could not be determined and why, as sentences for users
 * @param fixedTables names in their catalog of outputs whose columns the connector does not change
 */
public record ConnectorLineage(
    List<Dataset> inputs,
    List<Dataset> outputs,
    List<DatasetPair> pairs,
    Map<Dataset, DatasetSchema> schemas,
    Map<Dataset, List<Symlink>> symlinks,
    List<String> notes,
    Map<Dataset, String> fixedTables) {
  /** Unknown lineage. */
  public static final ConnectorLineage EMPTY =
      new ConnectorLineage(List.of(), List.of(), List.of(), Map.of(), Map.of(), List.of());

  /** Lineage without fixed tables. */
  public ConnectorLineage(
      final List<Dataset> inputs,
      final List<Dataset> outputs,
      final List<DatasetPair> pairs,
      final Map<Dataset, DatasetSchema> schemas,
      final Map<Dataset, List<Symlink>> symlinks,
      final List<String> notes) {
    this(inputs, outputs, pairs, schemas, symlinks, notes, Map.of());
  }

  /** Return a copy with other schemas. */
  public ConnectorLineage withSchemas(final Map<Dataset, DatasetSchema> other) {
    return new ConnectorLineage(inputs, outputs, pairs, other, symlinks, notes, fixedTables);
  }

  /** Return a copy with additional notes, deduplicated. */
  public ConnectorLineage withNotes(final Collection<String> more) {
    final List<String> all =
        Stream.concat(notes.stream(), more.stream()).distinct().sorted().toList();
    return new ConnectorLineage(inputs, outputs, pairs, schemas, symlinks, all, fixedTables);
  }

  /** Return a copy with other outputs, and other pairs of them. */
  public ConnectorLineage withOutputs(
      final List<Dataset> otherOutputs, final List<DatasetPair> otherPairs) {
    return new ConnectorLineage(
        inputs, otherOutputs, otherPairs, schemas, symlinks, notes, fixedTables);
  }

  public ConnectorLineage {
    inputs = inputs.stream().distinct().sorted().toList();
    outputs = outputs.stream().distinct().sorted().toList();
    pairs = List.copyOf(pairs);
    schemas = Collections.unmodifiableSortedMap(new TreeMap<>(schemas));
    symlinks = Collections.unmodifiableSortedMap(new TreeMap<>(symlinks));
    notes = List.copyOf(notes);
    fixedTables = Collections.unmodifiableSortedMap(new TreeMap<>(fixedTables));
  }
}
