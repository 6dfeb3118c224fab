// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.transport;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/**
 * Bounded queue of events. Adding never blocks: a full queue drops its oldest event, since every
 * event is a complete snapshot that a newer one supersedes. Events that must not be dropped may
 * exceed its capacity. Thread-safe.
 */
final class EventQueue {
  /**
   * Event with the time at which it was queued.
   *
   * @param since in nanoseconds of {@link System#nanoTime}
   */
  record QueuedEvent(OutgoingEvent event, long since) {}

  private final int capacity;
  private final Deque<QueuedEvent> events = new ArrayDeque<>();
  private boolean closed;

  EventQueue(final int capacity) {
    this.capacity = capacity;
  }

  /** Add an event; return how many were dropped: the oldest if full, the event itself if closed. */
  synchronized int add(final OutgoingEvent event, final long now) {
    if (closed) {
      return 1;
    }
    events.addLast(new QueuedEvent(event, now));
    notifyAll();
    if (events.size() <= capacity) {
      return 0;
    }
    final Iterator<QueuedEvent> oldest = events.iterator();
    while (oldest.hasNext()) {
      if (oldest.next().event().isDroppable()) {
        oldest.remove();
        return 1;
      }
    }
    return 0;
  }

  /** Wait for events and return the oldest without removing them; empty if closed and empty. */
  synchronized List<QueuedEvent> await(final int limit) throws InterruptedException {
    while (events.isEmpty() && !closed) {
      wait();
    }
    final List<QueuedEvent> oldest = new ArrayList<>();
    for (final QueuedEvent event : events) {
      if (oldest.size() == limit) {
        break;
      }
      oldest.add(event);
    }
    return oldest;
  }

  /** Remove events that have not been dropped in the meantime. */
  synchronized void remove(final List<QueuedEvent> settled) {
    final Set<QueuedEvent> removed = Collections.newSetFromMap(new IdentityHashMap<>());
    removed.addAll(settled);
    events.removeIf(removed::contains);
  }

  /** Wait for {@code millis}, or until closed. */
  synchronized void pause(final long millis) throws InterruptedException {
    final long deadline = System.nanoTime() + millis * 1_000_000;
    for (long left = millis;
        left > 0 && !closed;
        left = (deadline - System.nanoTime()) / 1_000_000) {
      wait(left);
    }
  }

  synchronized int size() {
    return events.size();
  }

  synchronized boolean isClosed() {
    return closed;
  }

  /** Reject further events. */
  synchronized void close() {
    closed = true;
    notifyAll();
  }
}
