// SPDX-License-Identifier: Apache-2.0
package dev.lineagelab.connect.runs;

import java.util.List;

/** Result of one step of {@link RunStateMachine}: the new state, and the events due in order. */
public record Transition(RunState state, List<DueEvent> events) {
  public Transition {
    events = List.copyOf(events);
  }
}
