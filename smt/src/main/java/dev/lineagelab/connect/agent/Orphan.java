// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.lineagelab.connect.emit.OutgoingEvent;
import dev.lineagelab.connect.events.RunFacets;
import dev.lineagelab.connect.runs.Condition;
import dev.lineagelab.connect.runs.RunMachine;
import dev.lineagelab.connect.runs.RunState;
import dev.lineagelab.connect.runs.Sighting;
import dev.lineagelab.connect.state.SharedState;
import java.time.Instant;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A run whose connector is gone, and with it the worker that spoke of it. */
final class Orphan {
  private static final Logger LOG = LoggerFactory.getLogger(Orphan.class);
  private static final ObjectMapper JSON = new ObjectMapper();

  private Orphan() {}

  /** Ends the run with what its last event said. Empty where that was not kept. */
  static Optional<OutgoingEvent> end(final String connector, final SharedState state) {
    final RunState run = state.run(connector);
    final Optional<String> kept = state.event(connector);
    final Sighting gone =
        new Sighting(
            Condition.ABSENT,
            false,
            run.datasets(),
            run.config(),
            false,
            false,
            false,
            run.lastEvent());
    final var transition = RunMachine.next(run, gone);
    state.save(connector, transition.state());
    state.forget(connector);
    if (kept.isEmpty() || transition.emissions().isEmpty()) {
      LOG.warn(
          "Connector {} is gone, and nothing is kept of its last run to end it with", connector);
      return Optional.empty();
    }
    final long time = transition.emissions().get(0).time();
    return aborted(kept.get(), time);
  }

  private static Optional<OutgoingEvent> aborted(final String kept, final long time) {
    try {
      final ObjectNode event = (ObjectNode) JSON.readTree(kept);
      event.put("eventType", "ABORT");
      event.put("eventTime", Instant.ofEpochMilli(time).toString());
      if (event.at("/run/facets/" + RunFacets.CONNECTOR) instanceof ObjectNode facet) {
        facet.put("reason", "the connector was deleted while no worker was there to see it");
        facet.remove("records");
      }
      final String job = event.at("/job/namespace").asText() + "/" + event.at("/job/name").asText();
      return Optional.of(new OutgoingEvent(job, event.toString()));
    } catch (final JsonProcessingException | ClassCastException e) {
      LOG.warn("What was kept of a run's last event cannot be read: {}", e.toString());
      return Optional.empty();
    }
  }
}
