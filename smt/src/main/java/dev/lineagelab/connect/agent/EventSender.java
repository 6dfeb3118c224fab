// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.agent;

import dev.lineagelab.connect.events.EventWriter;
import dev.lineagelab.connect.events.RunEvent;
import dev.lineagelab.connect.settings.PluginSettings;
import dev.lineagelab.connect.state.SharedState;
import dev.lineagelab.connect.state.TerminalEvent;
import dev.lineagelab.connect.transport.OutgoingEvent;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the events of a poll once the state that they follow from is stored. A terminal event is
 * stored until the destination has accepted it; if its worker is gone by then, another one sends
 * it.
 */
final class EventSender {
  private static final Logger LOG = LoggerFactory.getLogger(EventSender.class);

  /** Milliseconds within which the worker that stored a terminal event sends it itself. */
  private static final long TAKE_OVER_MS = 10_000;

  private record Outgoing(PluginSettings settings, OutgoingEvent event) {}

  private final SharedState state;
  private final Emitters emitters = new Emitters();
  private final List<Outgoing> outgoing = new ArrayList<>();
  private final Set<TerminalEvent> sending = new HashSet<>();
  private final Queue<TerminalEvent> settled = new ConcurrentLinkedQueue<>();
  private final Map<TerminalEvent, Long> waitingSince = new HashMap<>();

  EventSender(final SharedState state) {
    this.state = state;
  }

  /** Add an event of this poll. */
  void add(final RunEvent event) {
    final PluginSettings settings = event.snapshot().settings();
    final String name = event.connectorName();
    final String job = event.jobNamespace() + "/" + name;
    if (event.due().type().isTerminal()) {
      state
          .terminalEvent(name, event.due().generation())
          .ifPresent(stored -> add(settings, job, stored));
    } else {
      final String json = write(event, settings);
      outgoing.add(new Outgoing(settings, new OutgoingEvent(job, json)));
      if (!event.due().isPeriodic()) {
        state.saveLastEvent(name, json);
      }
    }
    if (!event.due().isPeriodic()) {
      LOG.info(
          "{} of run {} of connector {}: {}",
          event.due().type(),
          event.runId(),
          name,
          event.due().reason());
    }
  }

  /** Write an event; a periodic one, which is never sent twice, with the state of the queue. */
  private String write(final RunEvent event, final PluginSettings settings) {
    return event.due().isPeriodic()
        ? EventWriter.write(event, emitters.of(settings).queueState())
        : EventWriter.write(event);
  }

  /** Add a stored terminal event. */
  void add(final PluginSettings settings, final String job, final TerminalEvent event) {
    if (sending.add(event)) {
      outgoing.add(
          new Outgoing(settings, new OutgoingEvent(job, event.json(), () -> settled.add(event))));
    }
  }

  /**
   * Add terminal events whose workers have not delivered them in time.
   *
   * @param isResponsible whether this worker sends the events of a connector
   * @param settings of a connector
   * @param now in milliseconds since the epoch
   */
  void takeOver(
      final Predicate<String> isResponsible,
      final Function<String, PluginSettings> settings,
      final long now) {
    final List<TerminalEvent> undelivered = state.terminalEvents();
    waitingSince.keySet().retainAll(undelivered);
    for (final TerminalEvent event : undelivered) {
      final long since = waitingSince.computeIfAbsent(event, unused -> now);
      final String name = event.connector();
      if (now - since >= TAKE_OVER_MS && !sending.contains(event) && isResponsible.test(name)) {
        final PluginSettings own = settings.apply(name);
        add(own, own.jobNamespace() + "/" + name, event);
      }
    }
  }

  /** Store the state of this poll, then queue its events. */
  void send() {
    removeSettled();
    if (!outgoing.isEmpty()) {
      state.flush();
      outgoing.forEach(next -> emitters.of(next.settings()).emit(next.event()));
      outgoing.clear();
    }
  }

  private void removeSettled() {
    for (TerminalEvent event = settled.poll(); event != null; event = settled.poll()) {
      sending.remove(event);
      state.removeTerminal(event);
    }
  }

  /** Send all queued events within the shutdown timeout. */
  void close() {
    send();
    emitters.close();
    removeSettled();
  }
}
