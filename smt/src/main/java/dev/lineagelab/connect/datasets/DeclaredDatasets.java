// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.datasets;

import dev.lineagelab.connect.model.Dataset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Datasets declared by the transform's option {@code datasets}, for connectors of unsupported
 * classes: comma-separated {@code topic -> namespace|name}. {@code *} is any other topic, {@code
 * ${topic}} in a name is replaced by the topic.
 */
final class DeclaredDatasets {
  static final String OPTION = "datasets";

  private static final String ANY = "*";

  private final Map<String, String[]> byTopic;

  private DeclaredDatasets(final Map<String, String[]> byTopic) {
    this.byTopic = byTopic;
  }

  /**
   * Parse the option.
   *
   * @param text null if it is not set
   * @param notes receives a sentence for each invalid entry
   */
  static DeclaredDatasets parse(final String text, final List<String> notes) {
    final Map<String, String[]> byTopic = new LinkedHashMap<>();
    for (final String part : text == null || text.isBlank() ? new String[0] : text.split(",")) {
      final String[] sides = part.split("->", 2);
      final String[] dataset = sides.length == 2 ? sides[1].strip().split("\\|", 2) : sides;
      if (sides.length == 2 && dataset.length == 2) {
        byTopic.put(sides[0].strip(), new String[] {dataset[0].strip(), dataset[1].strip()});
      } else {
        notes.add(
            "'" + part.strip() + "' of option '" + OPTION + "' is not 'topic -> namespace|name'.");
      }
    }
    return new DeclaredDatasets(byTopic);
  }

  /** Return the dataset that feeds a topic, or that a topic feeds. */
  Optional<Dataset> forTopic(final String topic, final ConnectorContext connector) {
    return Optional.ofNullable(byTopic.getOrDefault(topic, byTopic.get(ANY)))
        .map(
            dataset ->
                connector.dataset(
                    dataset[0].replace("${topic}", topic), dataset[1].replace("${topic}", topic)));
  }

  /** Return true if nothing is declared. */
  boolean isEmpty() {
    return byTopic.isEmpty();
  }
}
