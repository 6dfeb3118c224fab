// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.state;

import dev.lineagelab.connect.runs.RunPhase;
import dev.lineagelab.connect.runs.RunState;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Terminal events that no destination has accepted yet, by connector and generation. */
final class TerminalEvents {
  private final Map<String, Map<Long, TerminalEvent>> events = new TreeMap<>();

  void put(final TerminalEvent event) {
    events
        .computeIfAbsent(event.connector(), name -> new TreeMap<>())
        .put(event.generation(), event);
  }

  /** Remove an event; return whether it was there. */
  boolean remove(final String connector, final long generation) {
    final Map<Long, TerminalEvent> known = events.getOrDefault(connector, Map.of());
    return known.containsKey(generation) && known.remove(generation) != null;
  }

  Optional<TerminalEvent> get(final String connector, final long generation) {
    return Optional.ofNullable(events.getOrDefault(connector, Map.of()).get(generation));
  }

  List<TerminalEvent> all() {
    return events.values().stream().flatMap(known -> known.values().stream()).toList();
  }

  /** End an open run whose worker was killed after it had stored the terminal event. */
  RunState ended(final String connector, final RunState run) {
    if (!run.phase().isOpen()) {
      return run;
    }
    return get(connector, run.generation())
        .map(event -> event.json().contains("\"eventType\":\"FAIL\""))
        .map(isFailure -> run.withPhase(isFailure ? RunPhase.FAILED : RunPhase.NONE))
        .orElse(run);
  }
}
