// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.openlineage.spool;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Events in the order of their delivery, with a limit on their total size. Not thread-safe. */
final class EventQueue {
  private final long maxBytes;
  private final Set<StoredEvent> events = new LinkedHashSet<>();
  private long bytes;

  EventQueue(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  boolean isEmpty() {
    return events.isEmpty();
  }

  int size() {
    return events.size();
  }

  /** The event to deliver next. */
  StoredEvent first() {
    return events.iterator().next();
  }

  /**
   * Appends an event.
   *
   * @return events that are dropped for it: the oldest heartbeats, then the oldest other events
   */
  List<StoredEvent> add(StoredEvent event) {
    events.add(event);
    bytes += event.bytes();
    List<StoredEvent> dropped = new ArrayList<>();
    while (bytes > maxBytes) {
      StoredEvent victim =
          events.stream().filter(StoredEvent::isHeartbeat).findFirst().orElseGet(this::first);
      remove(victim);
      dropped.add(victim);
    }
    return dropped;
  }

  /** Removes an event, which may have been dropped meanwhile. */
  boolean remove(StoredEvent event) {
    boolean removed = events.remove(event);
    if (removed) {
      bytes -= event.bytes();
    }
    return removed;
  }

  void moveToEnd(StoredEvent event) {
    if (events.remove(event)) {
      events.add(event);
    }
  }
}
