// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.emit;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Events that wait, at most as many as it may hold. Nobody waits to get one in: where it is full,
 * the oldest goes, since each event is a full picture and a newer one says more.
 */
final class EventQueue {
  /**
   * An event and since when it waits.
   *
   * @param since in nanoseconds of {@link System#nanoTime}
   */
  record Waiting(OutgoingEvent event, long since) {}

  private final int capacity;
  private final Deque<Waiting> events = new ArrayDeque<>();
  private boolean closed;

  EventQueue(final int capacity) {
    this.capacity = capacity;
  }

  /** Puts an event in; returns how many had to go for it, the event itself among them if closed. */
  synchronized int add(final OutgoingEvent event, final long now) {
    if (closed) {
      return 1;
    }
    events.addLast(new Waiting(event, now));
    notifyAll();
    if (events.size() <= capacity) {
      return 0;
    }
    events.removeFirst();
    return 1;
  }

  /** The oldest events, which stay in; waits until there is one. Empty when closed and empty. */
  synchronized List<Waiting> await(final int most) throws InterruptedException {
    while (events.isEmpty() && !closed) {
      wait();
    }
    final List<Waiting> oldest = new ArrayList<>();
    for (final Waiting waiting : events) {
      if (oldest.size() == most) {
        break;
      }
      oldest.add(waiting);
    }
    return oldest;
  }

  /** Takes events out, those of them that have not had to go meanwhile. */
  synchronized void remove(final List<Waiting> settled) {
    for (final Waiting waiting : settled) {
      if (events.peekFirst() == waiting) {
        events.removeFirst();
      }
    }
  }

  /** Waits, unless closed. */
  synchronized void pause(final long millis) throws InterruptedException {
    final long until = System.nanoTime() + millis * 1_000_000;
    for (long left = millis; left > 0 && !closed; left = (until - System.nanoTime()) / 1_000_000) {
      wait(left);
    }
  }

  synchronized int size() {
    return events.size();
  }

  synchronized boolean isClosed() {
    return closed;
  }

  /** Lets nothing more in. */
  synchronized void close() {
    closed = true;
    notifyAll();
  }
}
