// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.lineagelab.connect.events.RunFacets;
import dev.lineagelab.connect.runs.AggregateState;
import dev.lineagelab.connect.runs.RunInput;
import dev.lineagelab.connect.runs.RunState;
import dev.lineagelab.connect.runs.RunStateMachine;
import dev.lineagelab.connect.runs.Transition;
import dev.lineagelab.connect.state.SharedState;
import dev.lineagelab.connect.state.TerminalEvent;
import java.time.Instant;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Open run of a connector that was deleted while no worker led it. */
final class OrphanedRun {
  private static final Logger LOG = LoggerFactory.getLogger(OrphanedRun.class);
  private static final ObjectMapper JSON = new ObjectMapper();

  private OrphanedRun() {}

  /** End the run with the content of its last event; empty if that was not stored. */
  static Optional<TerminalEvent> end(final String connector, final SharedState state) {
    final RunState run = state.storedRun(connector);
    final Optional<String> lastEvent = state.lastEvent(connector);
    final Transition transition =
        RunStateMachine.next(
            run, RunInput.of(AggregateState.ABSENT, run.datasets(), run.config(), run.lastEvent()));
    final Optional<TerminalEvent> end =
        lastEvent
            .filter(event -> !transition.events().isEmpty())
            .flatMap(event -> aborted(event, transition.events().get(0).time()))
            .map(json -> new TerminalEvent(connector, run.generation(), json));
    end.ifPresent(state::saveTerminal);
    state.saveRun(connector, transition.state());
    state.remove(connector);
    if (end.isEmpty()) {
      LOG.warn(
          "Cannot send the end of the run of deleted connector {}: no event of it is stored",
          connector);
    }
    return end;
  }

  private static Optional<String> aborted(final String lastEvent, final long time) {
    try {
      final ObjectNode event = (ObjectNode) JSON.readTree(lastEvent);
      event.put("eventType", "ABORT");
      event.put("eventTime", Instant.ofEpochMilli(time).toString());
      if (event.at("/run/facets/" + RunFacets.CONNECTOR) instanceof ObjectNode facet) {
        facet.put("reason", "the connector was deleted while no worker was there to see it");
        facet.remove("records");
      }
      return Optional.of(event.toString());
    } catch (final JsonProcessingException | ClassCastException e) {
      LOG.warn("Cannot read the stored last event of a run: {}", e.toString());
      return Optional.empty();
    }
  }
}
